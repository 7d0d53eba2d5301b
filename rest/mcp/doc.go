// Package mcp serves Postrider's tools for AI agents at /mcp, over the Model Context Protocol (streamable HTTP,
// without sessions on the server).
//
// A tool is a translation. It calls operations of the REST API and documents of GraphQL inside the process, with
// the credential of the MCP request. Rights, limits of keys, rate limits, caps, idempotency, the API log and the
// audit log are therefore those of the API, and this package decides none of them. It only hides the tools that a
// caller could not use.
//
// Text that outside parties wrote (subjects, bodies, replies of mail servers) is returned as data between
// delimiters that it cannot contain. It never becomes part of a tool's description or of a summary.
package mcp
