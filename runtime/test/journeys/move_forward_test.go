package journeys_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/moves"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/test/harness"
)

// loyalClient is a client of the source of a move that never follows a redirect.
type loyalClient struct {
	t      *testing.T
	source *harness.App
	client *http.Client
}

func (c loyalClient) do(method, path, body string, headers ...string) harness.Answer {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.source.BaseURL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.source.APIKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return harness.Answer{Status: response.StatusCode, Header: response.Header, Body: content}
}

// checkForwardedRequests checks that clients of an account that has moved reach it through the source, over each API,
// once the operator chooses so.
func checkForwardedRequests(t *testing.T, source, target *harness.App) {
	t.Helper()
	client := loyalClient{t, source, &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
	calls := map[string][2]string{
		"REST":    {"/api/emails", `{"from":"ada@dev.test","to":"bob@example.net","subject":"Over REST","text":"x"}`},
		"GraphQL": {"/graphql", `{"query":"{ emails(first: 1) { nodes { id } } }"}`},
		"Resend":  {"/resend/emails", `{"from":"ada@dev.test","to":"bob@example.net","subject":"Over Resend","text":"x"}`},
		"MCP":     {"/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
	}
	for api, call := range calls {
		got := client.do(http.MethodPost, call[0], call[1])
		if got.Status != http.StatusTemporaryRedirect || got.Header.Get("Location") != target.BaseURL+call[0] ||
			!strings.Contains(string(got.Body), "account_moved") && api != "Resend" {
			t.Errorf("%s without forwarding: %d %v %s", api, got.Status, got.Header, got.Body)
		}
	}
	withStoreOf(t, source, sourceKey, func(s *store.Store, _ transfer.Options) {
		if _, err := moves.Finish(t.Context(), s.DB, source.AccountID, target.BaseURL, true); err != nil {
			t.Fatal(err)
		}
	})
	expect.Eventually(t, "the source forwards", func() bool {
		return client.do(http.MethodGet, "/api/emails?limit=1", "").Status == http.StatusOK
	})
	for api, call := range calls {
		first := client.do(http.MethodPost, call[0], call[1], "Idempotency-Key", "forwarded-"+api)
		again := client.do(http.MethodPost, call[0], call[1], "Idempotency-Key", "forwarded-"+api)
		if first.Status != http.StatusOK || string(again.Body) != string(first.Body) ||
			strings.Contains(string(first.Body), `"error`) {
			t.Errorf("%s with forwarding: %d %s, again %d %s", api, first.Status, first.Body, again.Status, again.Body)
		}
		if n := len(first.Header.Values("X-Request-Id")); n > 1 {
			t.Errorf("%s: the response has %d request ids", api, n)
		}
		if got := client.do(http.MethodPost, call[0], call[1], admission.HeaderForwarded, "3"); got.Status != http.StatusServiceUnavailable {
			t.Errorf("%s forwarded a request that was forwarded 3 times: %d %s", api, got.Status, got.Body)
		}
	}
	large, err := json.Marshal(asked{"from": "ada@dev.test", "to": "bob@example.net", "subject": "Large",
		"text": strings.Repeat("0123456\n", 200_000)})
	if err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, "forwarding a large email", client.do(http.MethodPost, "/api/emails", string(large)), http.StatusOK)
	for _, subject := range []string{"Over REST", "Over Resend", "Large"} {
		expect.Eventually(t, subject+" arrives", func() bool { return len(arrivedWith(source, subject)) > 0 })
		if n := len(arrivedWith(source, subject)); n != 1 {
			t.Errorf("%q arrived %d times, want once", subject, n)
		}
	}
	wantAnswer(t, "what the target refuses", client.do(http.MethodPost, "/api/emails", `{}`), http.StatusBadRequest,
		"validation_error")

	if err := target.Stop(); err != nil {
		t.Fatal(err)
	}
	for api, call := range calls {
		got := client.do(http.MethodPost, call[0], call[1])
		if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s without the target: %d %v %s", api, got.Status, got.Header, got.Body)
		}
	}
}
