# Coati from the lock: docker build --tag coati . && docker run --rm --volume "$PWD":/data coati crawl URL --out run
# docs/how-to/run-in-a-container.md says more.

FROM python:3.11-slim AS wheels
WORKDIR /source
COPY requirements.lock ./
# Each wheel is compared with the hash that the lock has of it; nothing else is installed below.
RUN pip wheel --no-cache-dir --no-deps --require-hashes --wheel-dir /wheels --requirement requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip install --no-index --find-links /wheels hatchling \
    && pip wheel --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.11-slim
# Of the lock only what a crawl needs, and the extra that reads structured data.
RUN --mount=type=bind,from=wheels,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels 'coati[markup]' \
    && coati man /usr/local/share/man/man1 \
    && useradd --create-home coati \
    && install --directory --owner=coati /data
USER coati
WORKDIR /data
VOLUME /data
ENTRYPOINT ["coati"]
CMD ["--help"]
