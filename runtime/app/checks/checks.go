package checks

import (
	"context"
	"net/netip"
	"path/filepath"

	"github.com/postrider/postrider/ent/source"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/modules/eventexport"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/app/listeners"
	"github.com/postrider/postrider/runtime/app/outgoing"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/diskroom"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Params are the parts that the checks read.
type Params struct {
	Config   setting.Values
	Resolver *dnsx.Resolver
	DB       *db.DB      // nil if no database is open
	Box      *secret.Box // nil without a master key
	Modules  []string    // the names that POSTRIDER_MODULES accepts
}

// New returns the doctor of an installation. The error comes from the database, which stores the source
// addresses; the returned doctor still runs every other check.
func New(ctx context.Context, p Params) (*doctor.Doctor, error) {
	d := &doctor.Doctor{Config: configOf(p), DNS: p.Resolver.WithoutCache()}
	if config.IsEmbedded(p.Config) {
		d.Others = append(d.Others, doctor.DataDir(config.DataDir.Get(p.Config)))
	}
	d.Others = append(d.Others, doctor.Signer(signing.Signer.Get(p.Config)))
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
	if len(sources) > 0 && outbound.MainExit.Get(p.Config).How == outbound.MX {
		d.Others = append(d.Others, checkSources(p.DB, sources))
	}
	for _, s := range sources {
		if ip, err := netip.ParseAddr(s.Address); err == nil {
			d.Config.Addresses = append(d.Config.Addresses, doctor.SendingAddress{IP: ip, Hostname: s.Hostname})
		}
	}
	d.Others = append(d.Others, doctor.Database(p.DB,
		doctor.DatabaseConfig{Embedded: config.IsEmbedded(p.Config), Connections: config.Connections.Get(p.Config),
			RiskLosingMail: config.RiskLosingAcceptedMail.Get(p.Config), Standbys: config.Standbys.Get(p.Config),
			Cell: config.Cell.Get(p.Config)}))
	if !config.ReplicaURL.Get(p.Config).IsZero() {
		d.Others = append(d.Others, doctor.Replica(p.DB, store.ReplicaConfig(p.Config)))
	}
	if d.Config.BaseURL != "" {
		d.Others = append(d.Others, sandboxRecords(domains.Inspection{Config: domains.ConfigOf(p.Config),
			Resolver: p.Resolver, DB: p.DB}))
	}
	if key := billing.StripeKey.Get(p.Config); !key.IsZero() {
		service, err := billingDesk(p)
		if err != nil {
			return d, err
		}
		d.Others = append(d.Others, checkPayments(service))
	}
	if !eventexport.To.Get(p.Config).IsZero() {
		d.Others = append(d.Others, checkExport(p))
	}
	d.Others = append(d.Others, checkStatistics(p), checkObjectStore(p), unknownResults(p.DB))
	// disk.data_dir checks the disk of the embedded server
	if !config.IsEmbedded(p.Config) || config.DatabaseBytes.Get(p.Config) > 0 {
		d.Others = append(d.Others, doctor.DatabaseDisk(diskroom.Params{Config: DiskConfig(p.Config), DB: p.DB,
			DatabaseURL: config.DatabaseURL.Get(p.Config).Reveal()}))
	}
	if p.Box != nil {
		d.Others = append(d.Others,
			doctor.MasterKey(func(ctx context.Context) (int, int, error) { return signing.Count(ctx, p.DB, p.Box) }))
	}
	return d, nil
}

// publicAddresses are the addresses that mail is sent from, for machines that cannot detect them.
var publicAddresses = setting.Declare(setting.Setting[[]netip.Addr]{
	Name: "POSTRIDER_PUBLIC_ADDRESSES", Group: "Delivery", Form: setting.Addresses(),
	DefaultText: "the public addresses of this machine",
	Help: "Source addresses of outgoing mail, as receivers see them, separated by commas. Needed by " +
		"postrider doctor behind a NAT router.",
})

// DiskConfig returns where the disk of the database is.
func DiskConfig(cfg setting.Values) diskroom.Config {
	c := diskroom.Config{Bytes: int64(config.DatabaseBytes.Get(cfg))}
	if config.IsEmbedded(cfg) {
		c.Dir = filepath.Join(config.DataDir.Get(cfg), "postgres")
	}
	return c
}

func configOf(p Params) doctor.Config {
	cfg := p.Config
	c := doctor.Config{BaseURL: config.BaseURL.Get(cfg), Hostname: config.Hostname.Get(cfg),
		ReturnPathHost: config.ReturnPathHost.Get(cfg), SPFInclude: config.SPFInclude.Get(cfg),
		SMTPHost:     config.SMTPHost.Get(cfg),
		TrackingHost: config.TrackingHost.Get(cfg), TrackingLabel: config.TrackingLabel,
		OwnTargets: config.OwnTargets.Get(cfg), SandboxDomain: config.SandboxDomain.Get(cfg),
		Direct: outbound.MainExit.Get(cfg).How == outbound.MX, MXPort: outgoing.MXPort.Get(cfg),
		ListenAddr: listeners.InboundAddr.Get(cfg),
		Folders:    []doctor.Folder{{Setting: "spool_dir", Dir: config.SpoolDir.Get(cfg)}}}
	if config.IsEmbedded(cfg) {
		c.Folders = append(c.Folders, doctor.Folder{Setting: "data_dir",
			Dir: filepath.Join(config.DataDir.Get(cfg), "postgres")})
	}
	if on, err := config.ParseModules(config.Modules.Get(cfg), p.Modules); err == nil {
		for _, name := range on {
			c.Receives = c.Receives || name == "bounces" || name == "inbound"
		}
	}
	for _, ip := range publicAddresses.Get(cfg) {
		c.Addresses = append(c.Addresses, doctor.SendingAddress{IP: ip})
	}
	if file := config.HTTPTLSCert.Get(cfg); file != "" {
		c.Certificates = append(c.Certificates, doctor.CertificateFiles{Setting: config.HTTPTLSCert.Name,
			CertFile: file, KeyFile: config.HTTPTLSKey.Get(cfg), Names: []string{config.BaseHost(cfg)}})
	}
	if listeners.CertFile.Get(cfg) != "" {
		c.Certificates = append(c.Certificates, doctor.CertificateFiles{Setting: "POSTRIDER_SMTP_TLS_CERT",
			CertFile: listeners.CertFile.Get(cfg), KeyFile: listeners.KeyFile.Get(cfg),
			Names: []string{config.SMTPHost.Get(cfg)}})
	}
	return c
}

// sandboxRecords checks the DNS records of the sandbox domain.
func sandboxRecords(in domains.Inspection) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		seen, err := domains.InspectSandbox(ctx, in)
		if err != nil {
			return []doctor.Finding{{Check: "sandbox", Level: doctor.Skipped, Found: err.Error(),
				Expected: "the records of the sandbox domain", Do: "Check the database first."}}
		}
		var all []doctor.Finding
		for _, r := range seen {
			f := doctor.Finding{Check: "sandbox." + string(r.Purpose), Expected: r.Type + " " + r.Name + " " + r.Value,
				Found: string(r.Status), Do: r.Error}
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
