"""A small fastmcp server with one tool, one resource and one prompt; the transport is the argument."""

import os
import sys

from fastmcp import FastMCP

server = FastMCP("wharf-interop")


@server.tool
def greet(name: str) -> str:
    """Greets somebody."""
    return f"ahoy, {name}"


@server.resource("wharf://greeting")
def greeting() -> str:
    """A greeting to nobody in particular."""
    return "ahoy from a resource"


@server.prompt
def hello(name: str) -> str:
    """Asks for a greeting."""
    return f"say hello to {name}"


if __name__ == "__main__":
    transport = sys.argv[1]
    if transport == "stdio":
        server.run(transport="stdio", show_banner=False)
    else:
        port = int(os.environ["PORT"])
        server.run(transport=transport, host="127.0.0.1", port=port, show_banner=False)
