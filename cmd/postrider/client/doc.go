// Package client calls the REST API of a running Postrider, and stores the user's servers and API keys in a profiles
// file.
package client
