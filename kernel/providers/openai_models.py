"""Which models an OpenAI-compatible service has."""

from __future__ import annotations

import asyncio

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.providers.openai_compat import headers
from kernel.providers.status import Service, message_of

LIST_TIMEOUT_S = 10.0


async def list_models(url: str, key: str = "") -> list[str]:
    """The names that `GET <url>/models` lists, in its order. Raises `ProviderFailed` and `ProviderRefused`."""
    import httpx  # noqa: PLC0415

    from kernel.providers.transport import client  # noqa: PLC0415

    service = Service(httpx.URL(url).host, "", "OPENAI_API_KEY", "OPENAI_BASE_URL", key)
    try:
        async with asyncio.timeout(LIST_TIMEOUT_S), client(url, connect_s=LIST_TIMEOUT_S) as http:
            response = await http.get(url.rstrip("/") + "/models", headers=headers(key))
        if response.status_code == 404:
            raise ProviderRefused(f"{service.host} lists no models (404): check OPENAI_BASE_URL or set ZCLAW_MODEL")
        if response.status_code != 200:
            raise service.error(response.status_code, message_of(response.content)[0])
        return [str(model["id"]) for model in response.json()["data"]]
    except TimeoutError as error:
        raise service.silence(LIST_TIMEOUT_S) from error
    except (httpx.HTTPError, OSError) as error:
        raise service.lost(error) from error
    except (ValueError, TypeError, KeyError) as error:
        raise ProviderFailed(f"{service.host} answers with something that is no list of models") from error
