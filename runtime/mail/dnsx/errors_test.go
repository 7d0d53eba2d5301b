package dnsx_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

func TestAnswersAndFailuresAreDistinguished(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "here.test. 300 IN A 192.0.2.1", "deep.empty.test. 300 IN A 192.0.2.1",
		"gone.test. 300 IN MX 10 here.test.", "broken.test. 300 IN MX 10 here.test.",
		"refused.test. 300 IN MX 10 here.test.",
		"other.test. 300 IN MX 10 here.test.")
	s.Fault("gone.test", dnsxtest.NXDomain)
	s.Fault("broken.test", dnsxtest.ServFail)
	s.Fault("refused.test", dnsxtest.Refused)
	s.Fault("other.test", dnsxtest.OtherQuestion)
	r := resolver(t, s)
	for name, want := range map[string]struct {
		kind     error
		nxdomain bool
	}{
		"here.test":                       {dnsx.ErrNotFound, false},
		"empty.test":                      {dnsx.ErrNotFound, false},
		"never.test":                      {dnsx.ErrNotFound, true},
		"gone.test":                       {dnsx.ErrNotFound, true},
		"broken.test":                     {dnsx.ErrTemporary, false},
		"refused.test":                    {dnsx.ErrTemporary, false},
		"other.test":                      {dnsx.ErrTemporary, false},
		"":                                {dnsx.ErrNotFound, true},
		"two..dots.test":                  {dnsx.ErrNotFound, true},
		strings.Repeat("x", 64) + ".test": {dnsx.ErrNotFound, true},
		strings.Repeat("abc.", 70):        {dnsx.ErrNotFound, true},
	} {
		mx, err := r.LookupMX(t.Context(), name)
		if !errors.Is(err, want.kind) || isNXDomain(err) != want.nxdomain || mx != nil {
			t.Errorf("%q: %v, %v (nxdomain %v), want %v", name, mx, err, isNXDomain(err), want)
		}
		if errors.Is(err, dnsx.ErrNotFound) && errors.Is(err, dnsx.ErrTemporary) {
			t.Errorf("%q: %v is both", name, err)
		}
		var e *dnsx.Error
		if !errors.As(err, &e) || e.Temporary() != errors.Is(err, dnsx.ErrTemporary) {
			t.Errorf("%q: %v is temporary: %t", name, err, e.Temporary())
		}
	}
}

func TestOneFamilyFailingDoesNotHideTheOther(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "host.test. 300 IN A 192.0.2.1")
	r := resolver(t, s)
	if got, err := r.LookupIP(t.Context(), "host.test"); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	s.Fault("down.test", dnsxtest.ServFail)
	if _, err := r.LookupIP(t.Context(), "down.test"); !errors.Is(err, dnsx.ErrTemporary) {
		t.Errorf("got %v", err)
	}
}

func TestSilenceIsTemporaryAndRetried(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "silent.test. 300 IN A 192.0.2.1")
	s.Fault("silent.test", dnsxtest.Timeout)
	r := resolver(t, s, func(c *dnsx.Config) { c.Timeout = 50 * time.Millisecond; c.Rounds = 3 })
	_, err := r.LookupTXT(t.Context(), "silent.test")
	if !errors.Is(err, dnsx.ErrTemporary) || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("got %v", err)
	}
	if n := s.Count("silent.test", "TXT"); n != 3 {
		t.Errorf("queried %d times, want 3", n)
	}
}

func TestMissingServerIsTemporary(t *testing.T) {
	t.Parallel()
	r, err := dnsx.New(dnsx.Config{Server: "127.0.0.1:1", Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.LookupMX(t.Context(), "example.test"); !errors.Is(err, dnsx.ErrTemporary) {
		t.Errorf("got %v", err)
	}
}

func TestCancellingEndsALookupImmediately(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t)
	s.Fault("silent.test", dnsxtest.Timeout)
	r := resolver(t, s, func(c *dnsx.Config) { c.Timeout = time.Minute })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.LookupMX(ctx, "silent.test")
		done <- err
	}()
	for s.Count("silent.test", "MX") == 0 {
		if ctx.Err() != nil {
			t.Fatal("the query never arrived")
		}
	}
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, dnsx.ErrTemporary) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the lookup went on")
	}
}

func TestServerSettingIsChecked(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"127.0.0.1": "127.0.0.1:53", "::1": "[::1]:53",
		"192.0.2.1:5353": "192.0.2.1:5353"} {
		r, err := dnsx.New(dnsx.Config{Server: setting})
		if err != nil || r.Servers()[0] != want {
			t.Errorf("the server setting %q returned %v, want the server %s", setting, err, want)
		}
	}
	for _, setting := range []string{"resolver.example", "127.0.0.1:", "127.0.0.1:99999", "nonsense:53"} {
		if _, err := dnsx.New(dnsx.Config{Server: setting}); err == nil {
			t.Errorf("%q was accepted", setting)
		}
	}
}

func TestSystemServersAreUsedWithoutASetting(t *testing.T) {
	t.Parallel()
	r, err := dnsx.New(dnsx.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Servers()) == 0 {
		t.Error("no server to ask")
	}
}

// isNXDomain reports whether an error says that the name itself does not exist.
func isNXDomain(err error) bool {
	var e *dnsx.Error
	return errors.As(err, &e) && e.NXDomain
}
