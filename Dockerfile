# `elmo serve` in a container, with the packaged model inside. The CPU kernels are compiled with it, for all processors of
# the kind (x86-64 or ARM).
#
#   docker build -t elmo-serve .
#   docker run --rm --read-only --tmpfs /tmp -p 127.0.0.1:8400:8400 elmo-serve
FROM python:3.13-slim-trixie AS build
# For task models: --build-arg EXTRAS=serve,parquet,torch
ARG EXTRAS=serve,parquet
# Where torch is smallest; not asked for anything else.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml hatch_build.py constraints.txt README.md LICENSE NOTICE ./
COPY src ./src
ENV ELMO_WHEEL_KERNELS=required
RUN python -m venv /opt/elmo \
    && /opt/elmo/bin/pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" -c constraints.txt ".[$EXTRAS]"
ENV ELMO_CACHE=/opt/elmo/cache
RUN /opt/elmo/bin/python -c 'from elmo.ops.cpu.library import cpu_library; cpu_library()' \
    && chmod -R a+rX,go-w /opt/elmo

FROM python:3.13-slim-trixie
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin elmo
COPY --from=build /opt/elmo /opt/elmo
ENV PATH=/opt/elmo/bin:$PATH \
    ELMO_CACHE=/opt/elmo/cache \
    ELMO_OFFLINE=1 \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /tmp
USER 10001
EXPOSE 8400
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8400/ready', timeout=4)"]
ENTRYPOINT ["elmo", "serve"]
CMD ["--host", "0.0.0.0", "--port", "8400"]
