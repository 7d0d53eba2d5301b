// Package openapi builds the OpenAPI document of the API, and the reference page from it. It knows no resource: the
// operations provide their descriptions.
package openapi
