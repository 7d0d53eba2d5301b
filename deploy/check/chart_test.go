package check_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	yamls "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const chartDir = "../helm/postrider"

// valueSets are the ways in which the chart is installed here.
var valueSets = map[string]map[string]any{
	"as it is": {},
	"with everything": {
		"settings":       map[string]any{"POSTRIDER_HOSTNAME": "mx.example.com"},
		"delivery":       map[string]any{"hostNetwork": true},
		"serviceMonitor": map[string]any{"enabled": true},
		"smtp":           map[string]any{"annotations": map[string]any{"example.com/pool": "smtp"}, "tlsSecret": "smtp-tls"},
		"networkPolicy": map[string]any{"httpFrom": []any{
			map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"name": "ingress"}}},
		}},
	},
	"without a network policy": {"networkPolicy": map[string]any{"enabled": false}},
}

func TestHelmLintsTheChart(t *testing.T) {
	t.Parallel()
	for name, values := range valueSets {
		for _, message := range lint.AllWithKubeVersion(chartDir, values, "default", nil).Messages {
			if message.Severity >= support.WarningSev {
				t.Errorf("%s: %s", name, message)
			}
		}
	}
}

func TestRenderedObjectsAreWhatKubernetesReads(t *testing.T) {
	t.Parallel()
	known := settings(t)
	for name, values := range valueSets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rendered := render(t, values)
			want := []string{"Deployment r-api", "Job r-migrate", "NetworkPolicy r", "PodDisruptionBudget r-api",
				"Service r", "Service r-delivery", "Service r-smtp", "StatefulSet r-delivery"}
			if name == "without a network policy" {
				want = slices.DeleteFunc(want, func(s string) bool { return s == "NetworkPolicy r" })
			}
			if name == "with everything" {
				want = append(want, "PodMonitor r")
				slices.Sort(want)
			}
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

// judgePod holds each pod to what the chart promises of all of them.
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
	if relay, certificate := seen["POSTRIDER_RELAY_ADDR"] != "", mounted["/tls"] &&
		seen["POSTRIDER_SMTP_TLS_CERT"] == "/tls/tls.crt"; relay != certificate {
		t.Errorf("%s listens for programs: %t, has a certificate: %t", what, relay, certificate)
	}
}

type objects struct {
	named    map[string]bool
	pods     map[string]core.PodTemplateSpec
	services []core.Service
}

// render returns the objects of the chart, each decoded strictly by the type of Kubernetes.
func render(t *testing.T, overrides map[string]any) objects {
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
	out := objects{named: map[string]bool{}, pods: map[string]core.PodTemplateSpec{}}
	for file, content := range files {
		if strings.HasSuffix(file, ".tpl") {
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
	case "Deployment":
		var d apps.Deployment
		err := yaml.UnmarshalStrict(document, &d)
		return errors.Join(err, o.pod(name, d.Spec.Selector.MatchLabels, d.Spec.Template))
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
	case "PodMonitor": // of the Prometheus operator, whose types are not here
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
