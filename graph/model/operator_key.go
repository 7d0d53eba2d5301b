package model

import "time"

// OperatorKey is a key that manages the installation, as the REST API returns it.
type OperatorKey struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"`
	AllowedIps []string   `json:"allowed_ips"`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	LastUsedIP *string    `json:"last_used_ip"`
	RevokedAt  *time.Time `json:"revoked_at"`
	CreatedBy  *string    `json:"created_by"`
	CreatedAt  time.Time  `json:"created_at"`
}

// CreateOperatorKeyResult is a new operator key and its secret.
type CreateOperatorKeyResult struct {
	Key    *OperatorKey `json:"operator_key"`
	Secret string       `json:"secret"`
}

// OperatorUserLink is a link that signs in a user once.
type OperatorUserLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}
