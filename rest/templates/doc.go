// Package templates serves the resource templates: drafts, and their published versions.
package templates
