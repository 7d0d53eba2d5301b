package faults_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// chartTimes are the times of the API pods that the Helm chart renders.
type chartTimes struct {
	drain         time.Duration // POSTRIDER_DRAIN_DELAY
	grace         time.Duration // after which Kubernetes kills the process
	probe         time.Duration // interval of readiness checks
	probeFailures int           // after which a pod gets no new connections
}

// readChart reads the API pods from the golden rendering of the chart, which deploy/check keeps current.
func readChart(t *testing.T) (c chartTimes) {
	t.Helper()
	rendered, err := os.ReadFile("../../../deploy/check/testdata/golden/ingress.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var pods string
	for document := range strings.SplitSeq(string(rendered), "\n---") {
		if strings.Contains(document, "kind: StatefulSet") && strings.Contains(document, "POSTRIDER_DRAIN_DELAY") {
			pods = document
		}
	}
	find := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(pods)
		if found == nil {
			t.Fatalf("the API pods of the chart do not match %s", pattern)
		}
		return found[1]
	}
	number := func(pattern string) int {
		n, err := strconv.Atoi(find(pattern))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	find(`name: POSTRIDER_NODE\s+valueFrom: \{fieldRef: \{(fieldPath: metadata\.name)\}\}`)
	if strings.Contains(pods, "preStop") {
		t.Error("the chart has a preStop hook, which this drill does not run")
	}
	const readiness = `readinessProbe:\s+httpGet: \{path: /readyz, port: http\}\s+`
	c.probe = time.Duration(number(readiness+`periodSeconds: (\d+)`)) * time.Second
	c.probeFailures = number(readiness + `periodSeconds: \d+\s+failureThreshold: (\d+)`)
	c.drain = time.Duration(number(`POSTRIDER_DRAIN_DELAY, value: "?(\d+)s`)) * time.Second
	c.grace = time.Duration(number(`terminationGracePeriodSeconds: (\d+)`)) * time.Second
	return c
}

// A rolling update in Kubernetes, with the times of the Helm chart: HAProxy in front of three pods, which checks their
// readiness as often as Kubernetes does and repeats no request. Each pod is replaced by one with the same name, and the
// next one stops when it is ready. No request fails.
func TestDrillRollingUpdateOfPods(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	chart := readChart(t)
	if noticed := chart.probe * time.Duration(chart.probeFailures); chart.drain <= noticed {
		t.Errorf("pods drain for %s, but readiness checks notice it after up to %s", chart.drain, noticed)
	}
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	pods := faults.StartCluster(t, dbtest.URL(t), 3, outbound(host), "POSTRIDER_DRAIN_DELAY="+chart.drain.String())
	address := expect.FreeAddress(t)
	config := fmt.Sprintf(`defaults
	mode http
	timeout connect 5s
	timeout client 60s
	timeout server 60s
	retries 0
listen api
	bind %s
	option httpchk GET /readyz
	default-server check inter %dms fall %d rise 1
`, address, chart.probe.Milliseconds(), chart.probeFailures)
	var servers strings.Builder
	for i, pod := range pods {
		fmt.Fprintf(&servers, "\tserver pod%d %s\n", i, strings.TrimPrefix(pod.BaseURL, "http://"))
	}
	runHAProxy(t, config+servers.String())
	client := pods[0].Through("http://" + address)
	expect.Eventually(t, "HAProxy reaches a pod", func() bool { return accountOf(t, client) == pods[0].AccountID })

	load := faults.Begin(client, lengthOf(1, 4))
	expect.Eventually(t, "the load is running", func() bool { return sink.Count() > 50 })
	var longest time.Duration
	rounds := lengthOf(1, 10)
	for range rounds {
		for _, pod := range pods {
			begin := time.Now()
			if err := pod.Stop(); err != nil {
				t.Errorf("a pod exited with %v", err)
			}
			longest = max(longest, time.Since(begin))
			pod.Launch()
		}
	}
	load.End()
	counts, _ := load.Statuses()
	expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
	awaitIdle(t, pods[0])
	names := pods[0].Query(`SELECT string_agg(DISTINCT name, ' ' ORDER BY name) FROM nodes`)[0][0]
	result := load.Audit(sink, nil, nil)
	for _, pod := range pods {
		pod.KillNow() // without the delay
	}
	figure(t, "pods replaced", rounds*len(pods), "-")
	figure(t, "answers", fmt.Sprint(counts), "200 only")
	figure(t, "names of the pods", names, "the same as before")
	atMost(t, "SIGTERM to exit", longest, chart.grace)
	audit(t, result)
	if len(counts) != 1 || counts[http.StatusOK] == 0 || result.Duplicates > 0 || names != "node-1 node-2 node-3" {
		t.Errorf("answers %v, %d duplicates, names %s", counts, result.Duplicates, names)
	}
}
