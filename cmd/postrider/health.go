package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// healthTimeout is longer than /readyz may take.
const healthTimeout = 4 * time.Second

type healthCommand struct {
	settingFlags `settings:"POSTRIDER_CONFIG,POSTRIDER_HTTP_ADDR"`

	Live bool `help:"Only report whether the service runs, as GET /healthz does."`
}

func (c *healthCommand) Run(s *session) error { return checkHealth(s, c.settingTexts(), c.Live) }

// healthSettings returns the settings of the environment. Containers check their health every few seconds, and
// building the flags of all commands takes longer than the check itself.
func healthSettings() setting.RawValues {
	return setting.RawValues{config.File.Name: os.Getenv(config.File.Name),
		config.HTTPAddr.Name: os.Getenv(config.HTTPAddr.Name)}
}

func checkHealth(s *session, texts setting.RawValues, live bool) error {
	cfg, err := config.Load(setting.Tool, "", texts)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(config.HTTPAddr.Get(cfg))
	if err != nil {
		return err
	}
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		host = "localhost" // the service listens on all addresses
	}
	path := "/readyz"
	if live {
		path = "/healthz"
	}
	ctx, cancel := context.WithTimeout(s.ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the service does not respond: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("the service does not respond: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, response.Status, strings.TrimSpace(string(body)))
	}
	_, err = s.out.Write(body)
	return err
}
