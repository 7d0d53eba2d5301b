package shape

// WebhookFilter selects the events that a webhook endpoint receives. An event matches if it matches every list that
// is not empty, and it matches a list if it matches one entry.
type WebhookFilter struct {
	DomainIDs     []string    `json:"domain_ids,omitempty"`
	TemplateIDs   []string    `json:"template_ids,omitempty"`
	AutomationIDs []string    `json:"automation_ids,omitempty"`
	Tags          []TagFilter `json:"tags,omitempty"`
}

// TagFilter matches the tags that have a name and, if it is set, a value.
type TagFilter struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}
