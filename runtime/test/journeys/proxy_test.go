package journeys_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// nginx runs a real nginx that forwards all requests to an address, with further directives in addition to
// proxy_pass. The test is skipped if nginx is not installed.
func nginx(t *testing.T, listen, to, directives string) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("nginx is not installed")
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "nginx.conf")
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	content := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/pid; error_log stderr; %[2]s
events {}
http {
  access_log off;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server { listen %[3]s; location / { proxy_pass http://%[4]s; %[5]s } }
}`, folder, user, listen, to, directives)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	command := exec.CommandContext(ctx, program, "-c", file, "-p", folder)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // its worker ends with it
	var said expect.Log
	command.Stderr = &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		command.Wait()
		if t.Failed() {
			t.Logf("nginx says:\n%s", said.String())
		}
	})
	expect.Eventually(t, "nginx listens", func() bool {
		c, err := net.Dial("tcp", listen)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// get fetches a URL on a persistent connection, like curl and Prometheus.
func get(t *testing.T, client *http.Client, url string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer a.Body.Close()
	content, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(content)
}

// Behind a proxy on the same machine, however it is configured, remote clients get neither metrics nor the
// details of readiness; local programs still get the metrics.
func TestJourneyMetricsAreNotServedThroughAProxy(t *testing.T) {
	t.Parallel()
	const kept = `proxy_http_version 1.1; proxy_set_header Connection "";`
	for name, c := range map[string]struct {
		directives string
		announced  bool // the base URL is that of the proxy
	}{
		"plain proxy_pass":                                {"", true},
		"plain proxy_pass, and another base URL":          {"", false},
		"HTTP/1.1, and another base URL":                  {"proxy_http_version 1.1;", false},
		"kept connections":                                {kept, true},
		"kept connections and a Host of this machine":     {kept + " proxy_set_header Host localhost;", true},
		"the address of the client, another base URL":     {kept + " proxy_set_header X-Forwarded-For $remote_addr;", false},
		"the Host that was asked for, another base URL":   {kept + " proxy_set_header Host mail.example.com;", false},
		"the protocol of the client, plain but announced": {"proxy_http_version 1.1;", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front, behind := expect.FreeAddress(t), expect.FreeAddress(t)
			nginx(t, front, behind, c.directives)
			harness.Start(t, func(s setting.RawValues) {
				s["POSTRIDER_HTTP_ADDR"] = behind
				if c.announced {
					s["POSTRIDER_BASE_URL"] = "http://" + front
				}
			})
			stranger := &http.Client{CheckRedirect: func(*http.Request,
				[]*http.Request) error {
				return http.ErrUseLastResponse
			}}
			if status, body := get(t, stranger, "http://"+front+"/metrics"); status == http.StatusOK ||
				strings.Contains(body, "postrider_") {
				t.Errorf("through the proxy GET /metrics returned %d %.200s, want no metrics", status, body)
			}
			if status, body := get(t, stranger, "http://"+front+"/readyz"); status != http.StatusOK ||
				strings.Contains(body, "_details") {
				t.Errorf("through the proxy GET /readyz returned %d %s, want 200 without details", status, body)
			}
			if status, body := get(t, http.DefaultClient, "http://"+behind+"/metrics"); status != http.StatusOK ||
				!strings.Contains(body, "\npostrider_") {
				t.Errorf("on this machine GET /metrics returned %d %.200s, want the metrics", status, body)
			}
			if status, body := get(t, http.DefaultClient, "http://"+behind+"/readyz"); strings.Contains(body,
				"_details") == c.announced {
				t.Errorf("on this machine GET /readyz returned %d %s, want details: %t", status, body, !c.announced)
			}
		})
	}
}
