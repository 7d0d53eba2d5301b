// Package problem is every answer of the API that is not a success: which status and
// body an error of a service becomes.
package problem
