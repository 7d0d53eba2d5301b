// Package openapi makes the OpenAPI document of the API and the reference page from it.
// It knows no resource: the operations say what is said of them.
package openapi
