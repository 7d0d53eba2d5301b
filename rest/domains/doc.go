// Package domains is the resource domains of the API: adding and verifying them, their
// settings, claims, signing keys, DNS providers and tracking hosts.
package domains
