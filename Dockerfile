# imgcl on the CPU, without root:
#   docker build -t imgcl .
#   docker run --rm -v "$PWD:/work" --user "$(id -u)" imgcl pretrain my-graph.npz --out runs/mine
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src src
RUN python -m venv /opt/imgcl
RUN /opt/imgcl/bin/pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -c constraints.txt .

FROM python:3.11-slim
# numba's parallel kernels
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home imgcl && mkdir /work /cache && chown imgcl /work && chmod 1777 /cache
COPY --from=build /opt/imgcl /opt/imgcl
# Any user may run the image: compiled kernels and downloads go where all of them can write.
ENV PATH=/opt/imgcl/bin:$PATH NUMBA_CACHE_DIR=/cache/numba XDG_CACHE_HOME=/cache
USER imgcl
WORKDIR /work
ENTRYPOINT ["imgcl"]
CMD ["--help"]
