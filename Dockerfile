# neardup without a compiler, and not as root. `make fresh` runs these steps: docs/install.md
FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv python3-dev g++
WORKDIR /src
COPY pyproject.toml CMakeLists.txt README.md LICENSE ./
COPY tools/needs.py tools/
COPY native native
COPY src src
# docker build --build-arg EXTRAS=web,html,pdf
ARG EXTRAS=
RUN python3 -m venv --without-pip /opt/neardup && \
    python3 -m venv /opt/pip && \
    /opt/pip/bin/pip --python /opt/neardup/bin/python install --no-cache-dir ".${EXTRAS:+[$EXTRAS]}"

FROM debian:bookworm-slim
RUN apt-get update && \
    apt-get install -y --no-install-recommends python3 && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --uid 1000 --create-home neardup && \
    install -d -o neardup /work
COPY --from=build /opt/neardup /opt/neardup
ENV PATH=/opt/neardup/bin:$PATH LANG=C.UTF-8
USER neardup
WORKDIR /work
ENTRYPOINT ["neardup"]
CMD ["--help"]
