package smtpclient_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

func relay(t *testing.T, cfg smtptest.Config, userinfo string) (*smtptest.Server, world) {
	t.Helper()
	server := smtptest.New(t, cfg)
	smarthost, err := smtpclient.ParseSmarthost(server.URL(userinfo))
	if err != nil {
		t.Fatal(err)
	}
	return server, newWorld(t, 25, func(c *smtpclient.Config) {
		c.Smarthost, c.RootCAs, c.Control = smarthost, server.RootCAs(), nil
	})
}

var users = map[string]string{"mailer": "s3cret"}

func TestSmarthostAcceptsAllMail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  smtptest.Config
		user string
		tls  bool
		mode string
	}{
		"in the clear":                {smtptest.Config{}, "", false, ""},
		"starttls":                    {smtptest.Config{TLS: smtptest.StartTLS}, "", true, ""},
		"starttls enforced":           {smtptest.Config{TLS: smtptest.StartTLS}, "", true, smtpclient.TLSEnforced},
		"smtps":                       {smtptest.Config{TLS: smtptest.Implicit}, "", true, ""},
		"smtps enforced":              {smtptest.Config{TLS: smtptest.Implicit}, "", true, smtpclient.TLSEnforced},
		"credentials over starttls":   {smtptest.Config{TLS: smtptest.StartTLS, Auth: users}, "mailer:s3cret", true, ""},
		"credentials over smtps":      {smtptest.Config{TLS: smtptest.Implicit, Auth: users}, "mailer:s3cret", true, ""},
		"credentials to this machine": {smtptest.Config{Auth: users, AuthInTheClear: true}, "mailer:s3cret", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, w := relay(t, c.cfg, c.user)
			for _, to := range []string{"bob@example.test", "carol@elsewhere.test"} {
				got := w.Deliver(t.Context(), smtpclient.Envelope{From: "a@b.test", To: to, TLSMode: c.mode},
					[]byte(message), nil)
				expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
				if got.RemoteHost != server.Host() || got.RemoteAddr != server.Addr() || (got.TLS != "") != c.tls {
					t.Errorf("got %+v", got)
				}
			}
			user, _, _ := strings.Cut(c.user, ":")
			if m := server.Messages(); len(m) != 2 || m[0].User != user || m[0].TLS != c.tls ||
				m[1].To[0] != "carol@elsewhere.test" {
				t.Errorf("arrived: %+v", m)
			}
			if n := server.Stats().Connections; n != 1 {
				t.Errorf("%d connections: one route for all recipients", n)
			}
			if len(w.dns.Queries()) != 0 {
				t.Errorf("DNS was queried: %v", w.dns.Queries())
			}
		})
	}
}

func TestSmarthostAuthFailuresAreTemporary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg   smtptest.Config
		user  string
		phase smtpclient.Phase
	}{
		"wrong password":       {smtptest.Config{TLS: smtptest.StartTLS, Auth: users}, "mailer:wrong", smtpclient.PhaseAuth},
		"credentials required": {smtptest.Config{TLS: smtptest.StartTLS, Auth: users}, "", smtpclient.PhaseMail},
		"no AUTH offered":      {smtptest.Config{TLS: smtptest.StartTLS}, "mailer:s3cret", smtpclient.PhaseAuth},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, w := relay(t, c.cfg, c.user)
			got := w.send(t)
			expect(t, got, smtpclient.Temporary, "", c.phase)
			if strings.Contains(got.Err.Error(), "s3cret") || strings.Contains(got.Err.Error(), "wrong") {
				t.Errorf("the password is in %q", got.Err)
			}
		})
	}
}

// smarthost.test is 127.0.0.1, but its name does not show it.
func TestCredentialsAreNeverSentInPlaintext(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]smtptest.Config{
		"no TLS offered":         {Auth: users, AuthInTheClear: true},
		"broken TLS":             {Auth: users, AuthInTheClear: true, TLS: smtptest.BrokenTLS},
		"an unknown certificate": {Auth: users, AuthInTheClear: true, TLS: smtptest.WrongName},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := smtptest.New(t, cfg)
			smarthost := &smtpclient.Smarthost{Host: "smarthost.test", Port: server.Port(), Username: "mailer",
				Password: "s3cret"}
			w := newWorld(t, 25, func(c *smtpclient.Config) { c.Smarthost, c.RootCAs = smarthost, server.RootCAs() })
			w.dns.Add(t, "smarthost.test. 300 IN A 127.0.0.1")
			expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseStartTLS)
			if strings.Contains(server.Transcript(), "AUTH") || len(server.Messages()) != 0 {
				t.Errorf("said %q", server.Transcript())
			}
		})
	}
}

func TestSmarthostWithEnforcedTLS(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]smtptest.TLS{"not offered": smtptest.NoTLS, "wrong name": smtptest.WrongName,
		"broken": smtptest.BrokenTLS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, w := relay(t, smtptest.Config{TLS: kind}, "")
			got := w.Deliver(t.Context(), enforced, []byte(message), nil)
			expect(t, got, smtpclient.Failed, smtpclient.ReasonTLSRequired, smtpclient.PhaseStartTLS)
		})
	}
}

func TestSmarthostIsFoundByNameAndByHostsFile(t *testing.T) {
	t.Parallel()
	server := smtptest.New(t, smtptest.Config{})
	for _, name := range []string{"relay.test", "localhost"} {
		w := newWorld(t, 25, func(c *smtpclient.Config) {
			c.Smarthost = &smtpclient.Smarthost{Host: name,
				Port: server.Port()}
		})
		w.dns.Add(t, "relay.test. 300 IN A 127.0.0.1")
		expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	}
	w := newWorld(t, 25, func(c *smtpclient.Config) {
		c.Smarthost = &smtpclient.Smarthost{Host: "nowhere.invalid", Port: server.Port()}
	})
	expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseDNS)
}

func TestParseSmarthost(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]smtpclient.Smarthost{
		"smtp://mail.example":                      {Host: "mail.example", Port: 587},
		"smtps://mail.example/":                    {Host: "mail.example", Port: 465, Implicit: true},
		"smtp://user%40x:p%3Aw@10.0.0.5:2525":      {Host: "10.0.0.5", Port: 2525, Username: "user@x", Password: "p:w"},
		"smtps://u:p@[2001:db8::1]:465?verify=off": {Host: "2001:db8::1", Port: 465, Implicit: true, Username: "u", Password: "p", Unverified: true},
	} {
		got, err := smtpclient.ParseSmarthost(setting)
		if err != nil || *got != want {
			t.Errorf("ParseSmarthost(%s) returned %+v, %v, want %+v", setting, got, err, want)
		}
	}
	secret := smtpclient.Config{Smarthost: &smtpclient.Smarthost{Host: "mail.example", Port: 25, Username: "u",
		Password: "hunter2"}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if printed := fmt.Sprintf(verb, *secret.Smarthost) + fmt.Sprintf(verb,
			secret.Smarthost); strings.Contains(printed, "hunter2") {
			t.Errorf("%s prints %q", verb, printed)
		}
	}
	for _, setting := range []string{"", "mail.example:25", "http://mail.example", "smtp://", "smtp://u@mail.example",
		"smtp://:p@mail.example",
		"smtp://mail.example:0", "smtp://mail.example:70000", "smtp://u:hunter2@mail.example/path",
		"smtp://u:hunter2@mail.example?tls=no", "smtp://u:hunter2@mail example"} {
		got, err := smtpclient.ParseSmarthost(setting)
		if err == nil {
			t.Errorf("%q was accepted as %v", setting, got)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password is in %q", err)
		}
	}
}

func TestInProcessInboxAcceptsEnforcedMail(t *testing.T) {
	t.Parallel()
	server := smtptest.New(t, smtptest.Config{})
	for inProcess, want := range map[bool]smtpclient.OutcomeKind{true: smtpclient.Delivered, false: smtpclient.Failed} {
		w := newWorld(t, 25, func(c *smtpclient.Config) {
			host, err := smtpclient.ParseSmarthost(server.URL(""))
			if err != nil {
				t.Fatal(err)
			}
			host.InProcess = inProcess
			c.Smarthost = host
		})
		if got := w.Deliver(t.Context(), enforced, []byte(message), nil); got.Kind != want {
			t.Errorf("in process %v: %+v", inProcess, got)
		}
	}
}
