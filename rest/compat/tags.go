package compat

import "regexp"

// Tag is a tag of our own API.
type Tag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

var notInTag = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// NewTag returns a tag for a name and a value of another provider, which allow more characters. A character that a
// tag cannot contain becomes an underscore.
func NewTag(name, value string) Tag {
	return Tag{Name: notInTag.ReplaceAllString(name, "_"), Value: notInTag.ReplaceAllString(value, "_")}
}
