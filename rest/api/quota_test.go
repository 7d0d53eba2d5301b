package api_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
)

// A new operation that writes must be added here, with a note on what it stores.
func TestEveryWriteIsClassifiedByWhatItStores(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for class, ids := range map[string][]string{
		// Stores the content of the body in a new row.
		"body": {"addTemplate", "updateTemplate", "publishTemplate", "rollbackTemplate", "duplicateTemplate", "restoreTemplateEdit",
			"addTemplateImage", "importTemplateStrings",
			"createAutomation", "updateAutomation", "postCustomEvent",
			"addSuppression", "addSuppressions", "addDomain", "startDomainClaim", "createWebhook", "createAPIKey", "rotateAPIKey",
			"createSMTPCredential", "putAddressRules",
			"setDomainTrackingHost", "rotateDomainDKIM", "applyDomainDNSRecords", "testEvent"},
		// The service knows the exact number of bytes.
		"itself": {"sendEmail", "sendBatch", "resendEmail", "replyToReceivedEmail", "forwardReceivedEmail"},
		// Deletes, reads, controls, or replaces one row: works when the quota is used up.
		"nothing": {"updateEmail", "checkEmail", "actOnAutomation", "simulateAutomation", "backtestAutomation",
			"cancelAutomationRun", "retryAutomationRun", "retryFailedRuns",
			"verifyDomain", "verifyDomainTrackingHost", "verifyDomainClaim", "updateDomain", "updateWebhook",
			"putSMSSettings", "replayWebhookDelivery", "recoverWebhook",
			"rotateWebhookSecret", "updateAccount", "updateAPIKey", "putAccountBrand",
			"deleteSuppressions"},
	} {
		for _, id := range ids {
			want[id] = class
		}
	}
	got := newBundle(t).api.StoresOf()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what operations count against the byte quota (-want +got):\n%s", diff)
	}
}

// ledger is a fake of the byte quotas.
type ledger struct {
	mutex sync.Mutex
	bytes int64
	full  bool
}

func (l *ledger) Charge(_ context.Context, _ string, _ storage.DataKind, bytes int64) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.full {
		return (&fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, Message: "full",
			UpgradeURL: accounts.UpgradeURL}).With("cap", "stored_bytes")
	}
	l.bytes += bytes
	return nil
}

func (l *ledger) Refund(_ context.Context, _ string, bytes int64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.bytes -= bytes
}

func (l *ledger) Debit(ctx context.Context, accountID string, bytes int64) {
	l.Refund(ctx, accountID, -bytes)
}

func TestAWriteIsChargedAndAFailedOneIsNot(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	b := newBundle(t, func(o *api.Options) { o.Storage = l })
	const whole = `{"email":"bob@example.net"}`
	if a := b.do(t, request{method: http.MethodPost, path: "/api/suppressions",
		body: whole}); a.status != http.StatusOK || l.bytes != int64(len(whole)+storage.RowBytes) {
		t.Errorf("a suppression got %d and is charged %d bytes, want 200 and %d bytes", a.status, l.bytes,
			len(whole)+storage.RowBytes)
	}
	before := l.bytes
	for _, refused := range []string{`{"email":"no address"}`, `{`, `{"email":"bob@example.net","x":1}`} {
		if a := b.do(t, request{method: http.MethodPost, path: "/api/suppressions",
			body: refused}); a.status != http.StatusBadRequest || l.bytes != before {
			t.Errorf("the wrong body %s got %d and is charged %d bytes, want 400 and nothing", refused, a.status,
				l.bytes-before)
		}
	}
	if a := b.do(t, request{method: http.MethodGet, path: "/api/suppressions"}); a.status != http.StatusOK ||
		l.bytes != before {
		t.Errorf("reading got %d and is charged %d bytes, want 200 and nothing", a.status, l.bytes-before)
	}
	l.full = true
	if a := b.do(t, request{method: http.MethodPost, path: "/api/suppressions",
		body: whole}); a.status != http.StatusTooManyRequests {
		t.Errorf("a suppression over the quota got %d %s, want 429", a.status, a.body)
	}
	if a := b.do(t, request{method: http.MethodDelete,
		path: "/api/suppressions/bob@example.net"}); a.status == http.StatusTooManyRequests {
		t.Errorf("deleting over the quota got %d %s, want no refusal", a.status, a.body)
	}
}
