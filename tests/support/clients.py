"""The official clients, set up so that a test sees every failure at once."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anthropic
import openai

from tests.support.gateway import GatewayClient
from tests.support.waiting import LIMIT_S


@asynccontextmanager
async def openai_client(
    gateway: GatewayClient, api_key: str = "none"
) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=gateway.openai_url, api_key=api_key, max_retries=0, timeout=LIMIT_S
    ) as client:
        yield client


@contextmanager
def sync_openai_client(base_url: str, api_key: str = "none") -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=base_url, api_key=api_key, max_retries=0, timeout=LIMIT_S
    ) as client:
        yield client


@asynccontextmanager
async def anthropic_client(
    gateway: GatewayClient, api_key: str = "none"
) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(
        base_url=gateway.base_url, api_key=api_key, max_retries=0, timeout=LIMIT_S
    ) as client:
        yield client
