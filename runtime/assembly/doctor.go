package assembly

import (
	"context"
	"log/slog"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/ent/source"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/assembly/listeners"
	"github.com/postrider/postrider/runtime/assembly/outgoing"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/doctor"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/module"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/setting"
	"github.com/postrider/postrider/runtime/store"
	"github.com/postrider/postrider/runtime/telemetry"
	"github.com/postrider/postrider/runtime/worker"
)

// DoctorParams are what is there to be looked at.
type DoctorParams struct {
	Config   setting.Values
	Resolver *dnsx.Resolver
	DB       *db.DB      // nil: none is open
	Box      *secret.Box // nil: no master key was given
}

// NewDoctor makes the doctor of an installation. The error is that of the database, whose
// source addresses it needs.
func NewDoctor(ctx context.Context, p DoctorParams) (*doctor.Doctor, error) {
	d := &doctor.Doctor{Config: doctorConfig(p.Config), DNS: p.Resolver.Uncached()}
	if config.Embedded(p.Config) {
		d.Others = append(d.Others, doctor.DataDir(config.DataDir.Of(p.Config)))
	}
	if p.DB == nil {
		return d, nil
	}
	sources, err := p.DB.Ent.Source.Query().Where(source.PausedAtIsNil()).All(ctx)
	if err != nil {
		return d, err
	}
	if len(sources) > 0 {
		d.Config.Addresses = nil
	}
	for _, s := range sources {
		if ip, err := netip.ParseAddr(s.Address); err == nil {
			d.Config.Addresses = append(d.Config.Addresses, doctor.Address{IP: ip, Hostname: s.Hostname})
		}
	}
	d.Others = append(d.Others, doctor.Database(p.DB, doctor.DatabaseConfig{Embedded: config.Embedded(p.Config), PerProcess: db.PerProcess,
		RiskLosingMail: config.RiskLosingAcceptedMail.Of(p.Config)}))
	if d.Config.BaseURL != "" {
		d.Others = append(d.Others, sandboxRecords(domains.Inspection{Config: domains.ConfigOf(p.Config), Resolver: p.Resolver, DB: p.DB}))
	}
	if p.Box != nil {
		d.Others = append(d.Others, doctor.MasterKey(func(ctx context.Context) (int, int, error) { return signing.Count(ctx, p.DB, p.Box) }))
	}
	return d, nil
}

// publicAddresses are those that mail leaves from, where this machine cannot know.
var publicAddresses = setting.Declare(setting.Setting[[]netip.Addr]{
	Name: "POSTRIDER_PUBLIC_ADDRESSES", Group: "Delivery", Form: setting.Addresses(), DefaultText: "the public ones of this machine",
	Help: "Addresses that mail leaves from, as receivers see them, separated by commas. For postrider doctor, behind a router that translates.",
})

func doctorConfig(cfg setting.Values) doctor.Config {
	c := doctor.Config{BaseURL: config.BaseURL.Of(cfg), Hostname: config.Hostname.Of(cfg), ReturnPathHost: config.ReturnPathHost.Of(cfg), SPFInclude: config.SPFInclude.Of(cfg), SMTPHost: config.SMTPHost.Of(cfg),
		TrackingHost: config.TrackingHost.Of(cfg), SandboxDomain: config.SandboxDomain.Of(cfg), Direct: outbound.MainExit.Of(cfg).How == outbound.MX, MXPort: outgoing.MXPort.Of(cfg), ListenAddr: listeners.InboundAddr.Of(cfg),
		Folders: []doctor.Folder{{Setting: "spool_dir", Dir: config.SpoolDir.Of(cfg)}}}
	if config.Embedded(cfg) {
		c.Folders = append(c.Folders, doctor.Folder{Setting: "data_dir", Dir: filepath.Join(config.DataDir.Of(cfg), "postgres")})
	}
	if on, err := config.ParseModules(config.Modules.Of(cfg), ModuleNames(false)); err == nil {
		for _, name := range on {
			c.Receives = c.Receives || name == "bounces" || name == "inbound"
		}
	}
	for _, ip := range publicAddresses.Of(cfg) {
		c.Addresses = append(c.Addresses, doctor.Address{IP: ip})
	}
	if file := config.HTTPTLSCert.Of(cfg); file != "" {
		c.Certificates = append(c.Certificates, doctor.CertificateFiles{Setting: config.HTTPTLSCert.Name, CertFile: file, KeyFile: config.HTTPTLSKey.Of(cfg), Names: []string{config.BaseHost(cfg)}})
	}
	if listeners.CertFile.Of(cfg) != "" {
		c.Certificates = append(c.Certificates, doctor.CertificateFiles{Setting: "POSTRIDER_SMTP_TLS_CERT", CertFile: listeners.CertFile.Of(cfg), KeyFile: listeners.KeyFile.Of(cfg),
			Names: []string{config.SMTPHost.Of(cfg)}})
	}
	return c
}

// sandboxRecords looks at the records of the sandbox domain.
func sandboxRecords(in domains.Inspection) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		seen, err := domains.InspectSandbox(ctx, in)
		if err != nil {
			return []doctor.Finding{{Check: "sandbox", Level: doctor.Skipped, Found: err.Error(), Expected: "the records of the sandbox domain", Do: "Look at the database first."}}
		}
		var all []doctor.Finding
		for _, r := range seen {
			f := doctor.Finding{Check: "sandbox." + string(r.Purpose), Expected: r.Type + " " + r.Name + " " + r.Value, Found: string(r.Status), Do: r.Error}
			switch {
			case r.Status == dnscheck.Verified:
			case !r.Required:
				f.Level = doctor.Skipped
			default:
				f.Level = doctor.Warning
			}
			all = append(all, f)
		}
		return all
	}
}

const (
	firstLook = 3 * time.Second // when the listeners are there
	lookAgain = 6 * time.Hour
	lookSoon  = 10 * time.Minute // while something is wrong
)

// visits are the looks of a doctor at the service that it is part of.
type visits struct {
	params DoctorParams
	log    *slog.Logger
	latest atomic.Pointer[doctor.Report]
}

// visited has a doctor look after the start and again and again, in production. What is not
// well is logged when it is new, told by GET /readyz and counted in the metrics.
var visited = fx.Options(
	fx.Provide(newVisits),
	module.Healths(func(v *visits) module.Health { return module.Health{Name: "doctor", Ask: v.condition} }),
)

func newVisits(lc fx.Lifecycle, cfg setting.Values, s *store.Store, resolver *dnsx.Resolver, reg prometheus.Registerer, workers *worker.Metrics, log *slog.Logger) (*visits, error) {
	v := &visits{params: DoctorParams{Config: cfg, Resolver: resolver, DB: s.DB, Box: s.Box}, log: log}
	for _, level := range []doctor.Level{doctor.Warning, doctor.Error} {
		gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: telemetry.Namespace, Name: "doctor_findings", Help: "What the checks of postrider doctor found at their latest look that is not well.",
			ConstLabels: prometheus.Labels{"level": level.String()}}, func() float64 { return float64(v.count(level)) })
		if err := reg.Register(gauge); err != nil {
			return nil, err
		}
	}
	tasks := worker.NewTasks(log, workers)
	lc.Append(fx.StartStopHook(func() { tasks.Start(worker.Task{Name: "doctor", First: firstLook, Step: v.step}) }, tasks.Stop))
	return v, nil
}

func (v *visits) count(l doctor.Level) int {
	report := v.latest.Load()
	if report == nil {
		return 0
	}
	return report.Count(l)
}

func (v *visits) step(ctx context.Context) (time.Duration, error) {
	d, err := NewDoctor(ctx, v.params)
	if err != nil {
		return lookSoon, err
	}
	report := d.Look(ctx)
	if err := ctx.Err(); err != nil {
		return lookSoon, err
	}
	known := map[string]bool{}
	if before := v.latest.Swap(&report); before != nil {
		for _, f := range before.Bad() {
			known[f.Check+f.Found] = true
		}
	}
	for _, f := range report.Bad() {
		if known[f.Check+f.Found] {
			continue
		}
		level := slog.LevelWarn
		if f.Level == doctor.Error {
			level = slog.LevelError
		}
		v.log.Log(ctx, level, "doctor: "+f.Check+" is not as it should be", "check", f.Check, "found", f.Found, "expected", f.Expected, "do", f.Do)
	}
	if report.Level >= doctor.Warning {
		return lookSoon, nil
	}
	return lookAgain, nil
}

// condition is the line of GET /readyz. A finding takes nothing out of a load balancer.
func (v *visits) condition(context.Context) (module.Condition, error) {
	report := v.latest.Load()
	if report == nil {
		return module.Condition{}, nil
	}
	c := module.Condition{Degraded: report.Level == doctor.Error,
		Figures: map[string]float64{"errors": float64(report.Count(doctor.Error)), "warnings": float64(report.Count(doctor.Warning))}}
	for _, f := range report.Bad() {
		c.Details = append(c.Details, f.Level.String()+" "+f.Check+": found "+f.Found+". "+f.Do)
	}
	return c, nil
}
