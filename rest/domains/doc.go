// Package domains serves the resource domains: adding and verifying them, their settings, claims, signing keys, DNS
// providers and tracking hosts.
package domains
