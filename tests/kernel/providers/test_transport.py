from __future__ import annotations

import asyncio

import httpx
import pytest

from kernel.providers.transport import client
from tests.twins.model_service import ModelService, Page, Stream


async def test_a_connection_serves_again_once_its_stream_was_read(service: ModelService) -> None:
    service.models = Stream((b"one", b"two"))

    async with client(service.url, connect_s=5, most_connections=1) as http:
        bodies = [(await http.get(f"{service.url}/models")).content for _ in range(3)]

    assert bodies == [b"onetwo"] * 3


async def test_a_stream_left_early_does_not_hold_its_connection(service: ModelService) -> None:
    service.models = Stream((b"one",), end="open")

    async with client(service.url, connect_s=5, most_connections=1) as http:
        for _ in range(2):
            async with asyncio.timeout(5), http.stream("GET", f"{service.url}/models") as response:
                assert await anext(response.aiter_bytes()) == b"one"


async def test_a_redirect_is_not_followed(service: ModelService) -> None:
    service.models = Page(302, "", {"location": f"{service.url}/other"})

    async with client(service.url, connect_s=5) as http:
        response = await http.get(f"{service.url}/models", headers={"authorization": "Bearer key"})

    assert response.status_code == 302
    assert len(service.requests) == 1


async def test_errors_are_httpx_errors(service: ModelService) -> None:
    service.models = Stream((b"one",), end="reset")

    async with client(service.url, connect_s=5) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get("http://127.0.0.1:9/")
        with pytest.raises(httpx.ReadError):
            await http.get(f"{service.url}/models")
        with pytest.raises(httpx.UnsupportedProtocol):
            await http.get("gopher://127.0.0.1/")


async def test_the_proxy_of_the_system_is_used(service: ModelService, monkeypatch: pytest.MonkeyPatch) -> None:
    service.models = Page(200, "through the proxy")
    monkeypatch.setenv("http_proxy", service.url)
    monkeypatch.setenv("no_proxy", "home.invalid")

    async with client("http://model.invalid", connect_s=5) as http:
        assert (await http.get("http://model.invalid/models")).text == "through the proxy"
    async with client("http://home.invalid", connect_s=5) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get("http://home.invalid/models")
