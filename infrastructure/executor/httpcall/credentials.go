package httpcall

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// credentials is what one call needs of TLS beyond other calls: the certificate that it shows,
// and the authority that it trusts instead of the system's.
type credentials struct {
	certificate *tls.Certificate
	roots       *x509.CertPool
	// authority is the text of roots.
	authority string
}

// name tells credentials apart, and does not reveal what they hold.
func (id *credentials) name() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%d %s", len(id.authority), id.authority)
	if id.certificate != nil {
		for _, der := range id.certificate.Certificate {
			_, _ = h.Write(der)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkCredentials reads the certificates of a definition; it returns nil when there are none.
func checkCredentials(r *jobdata.Reader, d definition) *credentials {
	if d.certificate == "" && d.key == "" && d.authority == "" {
		return nil
	}
	id := &credentials{}
	switch {
	case d.certificate != "" && d.key == "":
		r.Reject("clientKey", "required",
			"belongs to clientCertificate: name the secret that holds it, such as ${secret.CLIENT_KEY}")
	case d.certificate == "" && d.key != "":
		r.Reject("clientCertificate", "required", "belongs to clientKey")
	case strings.Contains(d.certificate+d.key, placeholder.Sample): // known when it runs
	case d.certificate != "":
		pair, err := tls.X509KeyPair([]byte(d.certificate), []byte(d.key))
		if err != nil {
			// The error of the library may hold parts of the certificate or the key.
			r.Reject("clientCertificate", "invalid", "must be a certificate in PEM, with its key in clientKey")
			break
		}
		id.certificate = &pair
	}
	id.authority = d.authority
	if d.authority != "" && !strings.Contains(d.authority, placeholder.Sample) {
		id.roots = x509.NewCertPool()
		if !id.roots.AppendCertsFromPEM([]byte(d.authority)) {
			r.Reject("certificateAuthority", "invalid", "must hold certificates in PEM")
		}
	}
	return id
}
