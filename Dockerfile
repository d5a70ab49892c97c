FROM python:3.13-slim

WORKDIR /app
COPY requirements.lock ./
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock

COPY bots bots
COPY kernel kernel
COPY workers workers
COPY hands hands
COPY skills skills
COPY zclaw zclaw
COPY LICENSE pyproject.toml ./
# The file system may be read-only when it runs; a uid of its own that no machine gives to a person.
RUN python -m compileall -q . \
    && useradd --uid 10001 --create-home --shell /usr/sbin/nologin zclaw \
    && install -d -o zclaw -g zclaw -m 0700 /data
ENV PYTHONPATH=/app PYTHONUNBUFFERED=1 ZCLAW_DATA_DIR=/data
USER 10001

ENTRYPOINT ["python", "-P", "-m", "zclaw"]
# Whether a process of this container was seen by the store lately; `bots` has a better one in docker-compose.yml.
HEALTHCHECK --interval=30s --timeout=10s --start-period=40s --retries=3 \
    CMD ["python", "-P", "-m", "zclaw", "status", "--here"]
