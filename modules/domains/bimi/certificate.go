package bimi

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/mail/address"
)

var (
	oidBrandIndicator = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 31} // id-kp-BrandIndicatorforMessageIdentification
	oidLogotype       = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 12} // RFC 3709
	oidMarkType       = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 53087, 1, 13}
)

const (
	maxChain    = 8
	expiresSoon = 30 * 24 * time.Hour
)

// checkCertificate returns the findings about a PEM file with a mark certificate and its issuers.
func checkCertificate(file []byte, domain string, logo []byte, now time.Time) []Finding {
	chain, err := parseChain(file)
	if err != nil {
		return []Finding{{Code: "certificate", State: Broken, Found: "The certificate file is invalid: " + err.Error() + ".",
			Fix: "Publish the PEM file from the certificate authority without changes."}}
	}
	mark := chain[0]
	return []Finding{checkPurpose(mark), checkIssuers(chain), checkValidity(mark, now), checkNames(mark, domain),
		checkEmbedded(mark, logo)}
}

// parseChain parses the certificates of a PEM file, with the mark certificate first.
func parseChain(file []byte) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for {
		block, rest := pem.Decode(file)
		switch {
		case block == nil && len(chain) == 0:
			return nil, errors.New("it contains no PEM certificate")
		case block == nil:
			return chain, nil
		case block.Type != "CERTIFICATE":
			return nil, fmt.Errorf("it contains %s", quote(block.Type))
		case len(chain) == maxChain:
			return nil, fmt.Errorf("it contains more than %d certificates", maxChain)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errors.New("a certificate cannot be parsed")
		}
		chain, file = append(chain, certificate), rest
	}
}

// checkPurpose checks that the first certificate is one for brand indicators.
func checkPurpose(mark *x509.Certificate) Finding {
	isMark := slices.ContainsFunc(mark.UnknownExtKeyUsage, oidBrandIndicator.Equal)
	switch {
	case mark.IsCA:
		return Finding{Code: "certificate", State: Broken, Found: "The first certificate in the file is that of an authority.",
			Fix: "Put the mark certificate first in the file, and its issuers after it."}
	case !isMark:
		return Finding{Code: "certificate", State: Broken, Found: "The certificate is not one for brand indicators (BIMI).",
			Fix: "Obtain a mark certificate (VMC or CMC). A certificate of a web server does not suffice."}
	}
	kind := "a mark certificate"
	for _, name := range mark.Subject.Names {
		if text, isText := name.Value.(string); isText && name.Type.Equal(oidMarkType) {
			kind = "a mark certificate of type " + quote(text)
		}
	}
	return Finding{Code: "certificate", State: Met, Found: fmt.Sprintf("The file contains %s, issued by %s.", kind,
		quote(mark.Issuer.CommonName))}
}

// checkIssuers checks that each certificate in the file is signed by the next one.
func checkIssuers(chain []*x509.Certificate) Finding {
	f := Finding{Code: "certificate_issuers", State: Broken,
		Fix: "Append the intermediate certificates of the authority to the file, in order and without others."}
	if len(chain) == 1 {
		f.Found = "The file contains no certificate of the issuer."
		return f
	}
	for i, certificate := range chain[:len(chain)-1] {
		if certificate.CheckSignatureFrom(chain[i+1]) != nil {
			f.Found = fmt.Sprintf("Certificate %d in the file is not signed by the next one.", i+1)
			return f
		}
	}
	return Finding{Code: "certificate_issuers", State: Met,
		Found: "The file contains the issuers of the certificate. Whether mailbox providers trust them is not checked."}
}

func checkValidity(mark *x509.Certificate, now time.Time) Finding {
	from, until := mark.NotBefore.UTC().Format(time.DateOnly), mark.NotAfter.UTC().Format(time.DateOnly)
	f := Finding{Code: "certificate_validity", State: Broken, Fix: "Renew the certificate, and publish the new file."}
	switch {
	case now.Before(mark.NotBefore):
		f.Found, f.Fix = "The certificate is not valid before "+from+".", "Wait until then, or publish an earlier certificate."
	case now.After(mark.NotAfter):
		f.Found = "The certificate expired on " + until + "."
	case mark.NotAfter.Sub(now) < expiresSoon:
		f.State, f.Found = Close, "The certificate expires on "+until+"."
	default:
		f.State, f.Found, f.Fix = Met, "The certificate is valid until "+until+".", ""
	}
	return f
}

// checkNames checks that the certificate names the domain or its organizational domain, as such or with the selector.
func checkNames(mark *x509.Certificate, domain string) Finding {
	organization := address.RegistrableDomain(domain)
	for _, name := range mark.DNSNames {
		name = strings.TrimPrefix(strings.ToLower(name), Selector+"._bimi.")
		if name == domain || organization != "" && name == organization {
			return Finding{Code: "certificate_domain", State: Met, Found: "The certificate names " + name + "."}
		}
	}
	names := make([]string, 0, maxNamed)
	for _, name := range mark.DNSNames[:min(len(mark.DNSNames), maxNamed)] {
		names = append(names, quote(name))
	}
	found := "The certificate names no domain."
	if len(names) > 0 {
		found = "The certificate names " + strings.Join(names, ", ") + ", not " + domain + "."
	}
	return Finding{Code: "certificate_domain", State: Broken, Found: found,
		Fix: "Obtain a certificate for " + domain + "."}
}

// checkEmbedded checks that the certificate contains the logo. Mailbox providers compare both, or show the one in the
// certificate.
func checkEmbedded(mark *x509.Certificate, logo []byte) Finding {
	f := Finding{Code: "certificate_logo", State: Broken, Fix: "Obtain a certificate for this logo."}
	for _, extension := range mark.Extensions {
		if !extension.Id.Equal(oidLogotype) {
			continue
		}
		embedded, err := embeddedLogo(extension.Value)
		switch {
		case errors.Is(err, errNotEmbedded):
			f.State, f.Fix = Unknown, ""
			f.Found = "The certificate refers to its logo by URL, so both logos were not compared."
		case err != nil:
			f.Found = "The logo in the certificate cannot be read: " + err.Error() + "."
		case logo == nil:
			f.State, f.Found, f.Fix = Unknown, "The logo was not read, so it was not compared with the one in the certificate.",
				"Correct the problem with the logo."
		case !bytes.Equal(embedded, logo):
			f.Found = "The certificate contains another logo."
			f.Fix = "Publish exactly the file for which the certificate was issued, or obtain a certificate for this logo."
		default:
			f.State, f.Found, f.Fix = Met, "The certificate contains the same logo.", ""
		}
		return f
	}
	f.Found = "The certificate contains no logo."
	return f
}
