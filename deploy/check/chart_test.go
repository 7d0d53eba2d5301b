package check_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	yamls "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const chartDir = "../helm/postrider"

// valueFiles are the values files in testdata/values with which the chart is tested.
var valueFiles = []string{"minimal", "ingress", "gateway", "autoscaling", "everything"}

func readValues(t *testing.T, name string) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile("testdata/values/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestHelmLintsTheChart(t *testing.T) {
	t.Parallel()
	for _, name := range valueFiles {
		for _, message := range lint.AllWithKubeVersion(chartDir, readValues(t, name), "default", nil).Messages {
			if message.Severity >= support.WarningSev {
				t.Errorf("%s: %s", name, message)
			}
		}
	}
}

// With each values file, the chart renders the same output as before. Changes appear in testdata/golden.
func TestRenderedChartIsGolden(t *testing.T) {
	t.Parallel()
	for _, name := range valueFiles {
		var all strings.Builder
		rendered := renderFiles(t, readValues(t, name))
		for _, file := range slices.Sorted(maps.Keys(rendered)) {
			content := strings.TrimSpace(rendered[file])
			if path.Base(file) == "NOTES.txt" {
				golden(t, "testdata/golden/"+name+".txt", content+"\n")
			} else if content != "" && !strings.HasSuffix(file, ".tpl") {
				fmt.Fprintf(&all, "---\n# %s\n%s\n", file, strings.TrimPrefix(content, "---\n"))
			}
		}
		golden(t, "testdata/golden/"+name+".yaml", all.String())
	}
}

func TestRenderedObjectsAreWhatKubernetesReads(t *testing.T) {
	t.Parallel()
	known := settings(t)
	for _, name := range valueFiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := readValues(t, name)
			rendered := render(t, values)
			want := []string{"Job r-migrate", "NetworkPolicy r", "PodDisruptionBudget r-api",
				"PodDisruptionBudget r-delivery", "Service r", "Service r-api", "Service r-delivery", "Service r-smtp",
				"StatefulSet r-api", "StatefulSet r-delivery"}
			switch name {
			case "minimal":
				want = slices.DeleteFunc(want, func(s string) bool { return s == "NetworkPolicy r" })
			case "ingress":
				want = append(want, "Ingress r")
			case "gateway":
				want = append(want, "HTTPRoute r")
			case "autoscaling":
				want = append(want, "HorizontalPodAutoscaler r-api")
			case "everything":
				want = append(want, "PodMonitor r", "Ingress r", "HTTPRoute r", "HorizontalPodAutoscaler r-api")
			}
			slices.Sort(want)
			if got := slices.Sorted(maps.Keys(rendered.named)); !slices.Equal(got, want) {
				t.Errorf("rendered %q, want %q", got, want)
			}
			for what, pod := range rendered.pods {
				judgePod(t, what, pod, known)
			}
			for _, service := range rendered.services {
				reached := 0
				for what, pod := range rendered.pods {
					if !matches(service.Spec.Selector, pod.Labels) {
						continue
					}
					reached++
					for _, port := range service.Spec.Ports {
						if !hasPort(pod, port.TargetPort) {
							t.Errorf("service %s sends port %d to %s of %s, which has no such port", service.Name,
								port.Port, port.TargetPort.String(), what)
						}
					}
				}
				if reached != 1 {
					t.Errorf("service %s selects %d kinds of pods, want 1", service.Name, reached)
				}
			}
		})
	}
}

// Integers in a values file arrive unchanged.
func TestWholeNumbersOfSettingsAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range render(t, readValues(t, "everything")).pods["StatefulSet r-api"].Spec.Containers {
		got := map[string]string{}
		for _, v := range c.Env {
			got[v.Name] = v.Value
		}
		if got["POSTRIDER_SPOOL_BYTES"] != "4294967296" || got["POSTRIDER_DATABASE_CONNECTIONS"] != "20" {
			t.Errorf("the settings are %v, want POSTRIDER_SPOOL_BYTES=4294967296 and POSTRIDER_DATABASE_CONNECTIONS=20", got)
		}
	}
}

// The schema refuses values that are misspelt or have another type.
func TestMisspeltValuesAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"baseUrl: https://mail.example.com":              "baseUrl",
		"api: {replica: 3}":                              "replica",
		"api: {replicas: three}":                         "replicas",
		"api: {drainDelaySeconds: 60}":                   "drainDelaySeconds",
		"baseURL: mail.example.com":                      "baseURL",
		"settings: {POSTRIDER_HOSTNAM: mx.example.com}":  "POSTRIDER_HOSTNAM",
		"settings: {POSTRIDER_MASTER_KEY: in the clear}": "POSTRIDER_MASTER_KEY",
		"smtp: {type: Loadbalancer}":                     "type",
		"delivery: {egress: pod}":                        "egress",
	} {
		values, err := chartutil.ReadValues([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		chart, err := loader.Load(chartDir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{}, chartutil.DefaultCapabilities)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the values %q have the error %v, want one that names %s", text, err, want)
		}
	}
}

// judgePod checks that a pod keeps the promises that the chart makes for all pods.
func judgePod(t *testing.T, what string, pod core.PodTemplateSpec, known map[string]bool) {
	t.Helper()
	if len(pod.Spec.Containers) != 1 {
		t.Fatalf("%s has %d containers, want 1", what, len(pod.Spec.Containers))
	}
	c := pod.Spec.Containers[0]
	s := c.SecurityContext
	if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.ReadOnlyRootFilesystem == nil ||
		!*s.ReadOnlyRootFilesystem ||
		s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
		!slices.Contains(s.Capabilities.Drop, "ALL") {
		t.Errorf("%s is not hardened: %+v", what, s)
	}
	if len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef == nil || c.EnvFrom[0].SecretRef.Name != "postrider" {
		t.Errorf("%s does not read the secret: %+v", what, c.EnvFrom)
	}
	seen := map[string]string{}
	for _, variable := range c.Env {
		if variable.Name == "GOMEMLIMIT" { // set by extraEnv
			continue
		}
		if _, twice := seen[variable.Name]; twice {
			t.Errorf("%s sets %s twice", what, variable.Name)
		}
		seen[variable.Name] = variable.Value
		if !known[variable.Name] {
			t.Errorf("%s sets %s, which docs/settings.md does not have", what, variable.Name)
		}
	}
	if c.Args[0] == "migrate" {
		return
	}
	if seen["POSTRIDER_MIGRATE"] != "off" {
		t.Errorf("%s migrates automatically, in addition to the job", what)
	}
	drain, err := time.ParseDuration(cmp.Or(seen["POSTRIDER_DRAIN_DELAY"], "0s"))
	if grace := time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second; err != nil ||
		grace < drain+30*time.Second {
		t.Errorf("%s is killed %s after a stop began, want 30 seconds after the drain delay of %s at least (%v)", what,
			grace, drain, err)
	}
	if _, named := seen["POSTRIDER_NODE"]; !named {
		t.Errorf("%s does not set POSTRIDER_NODE", what)
	}
	if c.ReadinessProbe == nil || c.ReadinessProbe.HTTPGet.Path != "/readyz" || c.LivenessProbe == nil ||
		c.LivenessProbe.HTTPGet.Path != "/healthz" || c.StartupProbe == nil {
		t.Errorf("%s lacks a probe", what)
	}
	mounted := map[string]bool{}
	for _, mount := range c.VolumeMounts {
		mounted[mount.MountPath] = slices.ContainsFunc(pod.Spec.Volumes,
			func(v core.Volume) bool { return v.Name == mount.Name })
	}
	if !mounted["/spool"] {
		t.Errorf("%s has no place for the spool: %+v", what, c.VolumeMounts)
	}
	// The relay refuses to start without a certificate, and without one no client is sent to its port.
	if relay, certificate := hasPort(pod, intstr.FromString("submission")), mounted["/tls"] &&
		seen["POSTRIDER_SMTP_TLS_CERT"] == "/tls/tls.crt"; relay != certificate {
		t.Errorf("%s serves programs: %t, has a certificate: %t", what, relay, certificate)
	}
}

type objects struct {
	named    map[string]bool
	pods     map[string]core.PodTemplateSpec
	services []core.Service
}

// renderFiles renders the chart as helm template does.
func renderFiles(t *testing.T, overrides map[string]any) map[string]string {
	t.Helper()
	chart, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	values, err := chartutil.ToRenderValues(chart, overrides,
		chartutil.ReleaseOptions{Name: "r", Namespace: "mail", Revision: 1, IsInstall: true},
		chartutil.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// render returns the objects of the chart, each decoded strictly by the type of Kubernetes.
func render(t *testing.T, overrides map[string]any) objects {
	t.Helper()
	out := objects{named: map[string]bool{}, pods: map[string]core.PodTemplateSpec{}}
	for file, content := range renderFiles(t, overrides) {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		reader := yamls.NewYAMLReader(newReader(content))
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if err := out.add(document); err != nil {
				t.Errorf("%s: %v\n%s", file, err, document)
			}
		}
	}
	return out
}

func (o *objects) add(document []byte) error {
	if len(bytes.TrimSpace(document)) == 0 {
		return nil
	}
	var head struct {
		Kind     string
		Metadata struct{ Name string }
	}
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	name := head.Kind + " " + head.Metadata.Name
	if o.named[name] {
		return fmt.Errorf("two objects are %s", name)
	}
	o.named[name] = true
	switch head.Kind {
	case "StatefulSet":
		var s apps.StatefulSet
		err := yaml.UnmarshalStrict(document, &s)
		return errors.Join(err, o.pod(name, s.Spec.Selector.MatchLabels, s.Spec.Template))
	case "Job":
		var j batch.Job
		err := yaml.UnmarshalStrict(document, &j)
		return errors.Join(err, o.pod(name, nil, j.Spec.Template))
	case "Service":
		var s core.Service
		err := yaml.UnmarshalStrict(document, &s)
		o.services = append(o.services, s)
		return err
	case "PodDisruptionBudget":
		return yaml.UnmarshalStrict(document, &policy.PodDisruptionBudget{})
	case "NetworkPolicy":
		return yaml.UnmarshalStrict(document, &network.NetworkPolicy{})
	case "Ingress":
		return yaml.UnmarshalStrict(document, &network.Ingress{})
	case "HorizontalPodAutoscaler":
		return yaml.UnmarshalStrict(document, &autoscaling.HorizontalPodAutoscaler{})
	case "PodMonitor", "HTTPRoute": // Prometheus operator and Gateway API: their types are not imported
		return nil
	}
	return fmt.Errorf("a %s is not classified", head.Kind)
}

func (o *objects) pod(name string, selector map[string]string, template core.PodTemplateSpec) error {
	o.pods[name] = template
	if !matches(selector, template.Labels) {
		return fmt.Errorf("%s selects %v, and its pods have %v", name, selector, template.Labels)
	}
	return nil
}

func matches(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func hasPort(pod core.PodTemplateSpec, target intstr.IntOrString) bool {
	return slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(p core.ContainerPort) bool {
		return p.Name == target.StrVal || p.ContainerPort == target.IntVal
	})
}
