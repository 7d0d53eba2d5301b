package resend

import (
	"net/http"

	"github.com/postrider/postrider/rest/compat"
)

func keyRoutes() []compat.Route {
	return []compat.Route{
		{Method: http.MethodPost, Path: "/api-keys", Handle: addKey},
		{Method: http.MethodGet, Path: "/api-keys", Handle: listKeys},
		{Method: http.MethodPatch, Path: "/api-keys/{id}", Handle: renameKey},
		{Method: http.MethodDelete, Path: "/api-keys/{id}", Handle: removeItem("api-keys", "api_key")},
	}
}

// scopes maps Resend's permissions to our scopes.
var scopes = map[string]string{"": "full", "full_access": "full", "sending_access": "sending"}

func addKey(c *compat.Call) (*compat.Response, error) {
	var in struct {
		Name       string  `json:"name"`
		Permission string  `json:"permission"`
		DomainID   *string `json:"domain_id"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	scope, known := scopes[in.Permission]
	if !known {
		return nil, compat.Invalid("permission", "must be one of full_access, sending_access")
	}
	body := map[string]any{"name": in.Name, "scope": scope}
	if in.DomainID != nil && *in.DomainID != "" {
		body["domain_ids"] = []string{*in.DomainID}
	}
	var made struct {
		APIKey struct {
			ID string `json:"id"`
		} `json:"api_key"`
		Secret string `json:"secret"`
	}
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: "/api-keys", Body: body,
		Key: c.Header("Idempotency-Key")}, &made); err != nil {
		return nil, err
	}
	return &compat.Response{Status: http.StatusCreated,
		Body: map[string]string{"id": made.APIKey.ID, "token": made.Secret}}, nil
}

type key struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	CreatedAt  string  `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
}

type keyRecord struct {
	key

	RevokedAt *string `json:"revoked_at"`
}

func listKeys(c *compat.Call) (*compat.Response, error) {
	return answerList(c, compat.ListRequest{Path: "/api-keys", Member: "api_keys", Name: "api_keys"},
		func(k keyRecord) string { return k.ID }, func(k keyRecord) bool { return k.RevokedAt == nil },
		func(k keyRecord) key { return k.key })
}

func renameKey(c *compat.Call) (*compat.Response, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	keyID := c.Param("id")
	ask := compat.Request{Method: http.MethodPatch, Path: joinPath("api-keys", keyID), Body: in}
	if err := c.Do(ask, nil); err != nil {
		return nil, err
	}
	return compat.OK(object{Object: "api_key", ID: keyID})
}
