// Package openapi builds the OpenAPI document of the API, and the reference page from it. It does not know any
// resources: the operations provide their descriptions.
package openapi
