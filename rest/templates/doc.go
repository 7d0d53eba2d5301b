// Package templates is the resource templates of the API: drafts, and the versions that
// are published of them.
package templates
