FROM python:3.12-slim

WORKDIR /app
COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock

COPY . .
RUN useradd --create-home zclaw
ENV PYTHONPATH=/app PYTHONUNBUFFERED=1
USER zclaw

ENTRYPOINT ["python", "-m", "zclaw"]
