"""The MCP server: tools with which an agent searches, orders and requests payments over the API."""
