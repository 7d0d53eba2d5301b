// Package problem translates the errors of services into the error responses of the API: status and body.
package problem
