// Package client calls the REST API of a running Postrider, and keeps the servers and API keys of the user in a file
// of profiles.
package client
