package middleware

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// CSRFHeader carries the CSRF token of calls that come with a session's cookie.
const CSRFHeader = "X-CSRF-Token"

const (
	// plainCookie holds the session where calls come without TLS.
	plainCookie = "ps_session"
	// secureCookie holds the session where calls come with TLS. Browsers keep a __Host-
	// cookie only if this very host set it over TLS.
	secureCookie = "__Host-ps_session"
	// csrfLabel is what is signed; another purpose needs another label.
	csrfLabel = "platform-scheduler csrf v1"
)

// Cookies keeps sessions in the browser of the console. It is immutable and
// safe for concurrent use.
type Cookies struct {
	proxies []netip.Prefix
	origins *http.CrossOriginProtection
}

// NewCookies believes the X-Forwarded-Proto of the proxies, which are addresses and
// networks. publicURL is the address of the console for browsers. It is empty where that
// is the Host that requests name.
func NewCookies(proxies []string, publicURL string) (Cookies, error) {
	k := Cookies{origins: http.NewCrossOriginProtection()}
	for _, text := range proxies {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			address, err := netip.ParseAddr(text)
			if err != nil {
				return k, fmt.Errorf("trust the proxy %q: %w", text, err)
			}
			network = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen())
		}
		k.proxies = append(k.proxies, network)
	}
	if publicURL == "" {
		return k, nil
	}
	u, err := url.Parse(publicURL)
	if err == nil {
		err = k.origins.AddTrustedOrigin(u.Scheme + "://" + u.Host)
	}
	if err != nil {
		return k, fmt.Errorf("trust the origin of %q: %w", publicURL, err)
	}
	return k, nil
}

// Set gives the browser a session for as long as it lasts.
func (k Cookies) Set(c *gin.Context, token string, life time.Duration) {
	k.set(c, token, int(life.Seconds()))
}

// Clear makes the browser forget its session.
func (k Cookies) Clear(c *gin.Context) { k.set(c, "", -1) }

func (k Cookies) set(c *gin.Context, token string, maxAge int) {
	name, secure := k.name(c)
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: token, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: secure,
		SameSite: http.SameSiteStrictMode,
	})
}

// name is the cookie of a request, and whether it came over TLS.
func (k Cookies) name(c *gin.Context) (name string, secure bool) {
	if k.OverTLS(c) {
		return secureCookie, true
	}
	return plainCookie, false
}

// OverTLS reports whether a request came over TLS: to this node, or to a proxy that is believed.
func (k Cookies) OverTLS(c *gin.Context) bool {
	forwarded := c.Request.Header.Values("X-Forwarded-Proto")
	return c.Request.TLS != nil || len(forwarded) == 1 && strings.EqualFold(forwarded[0], "https") &&
		k.believed(c.RemoteIP())
}

func (k Cookies) believed(peer string) bool {
	address, err := netip.ParseAddr(peer)
	if err != nil {
		return false
	}
	for _, network := range k.proxies {
		if network.Contains(address.Unmap()) {
			return true
		}
	}
	return false
}

// session reads the one session cookie.
func (k Cookies) session(c *gin.Context) (string, error) {
	name, _ := k.name(c)
	switch found := c.Request.CookiesNamed(name); len(found) {
	case 0:
		return "", errNoToken()
	case 1:
		return found[0].Value, nil
	default:
		return "", apperror.New(apperror.KindUnauthenticated, "duplicate_cookie",
			"the cookie "+name+" came more than once; delete the cookies of this site and sign in again")
	}
}

// verifyIntent returns nil if the session's own page made this call: browsers also
// send cookies with calls that other sites cause.
func (k Cookies) verifyIntent(r *http.Request, session string) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if err := k.SameOrigin(r); err != nil {
		return err
	}
	given := r.Header.Values(CSRFHeader)
	if len(given) != 1 || !hmac.Equal([]byte(given[0]), []byte(CSRFToken(session))) {
		return apperror.New(apperror.KindForbidden, "csrf",
			"calls with a session's cookie must carry its csrfToken, which GET /api/v1/auth/me shows, in the header "+CSRFHeader)
	}
	return nil
}

// SameOrigin refuses a call that another site caused.
func (k Cookies) SameOrigin(r *http.Request) error {
	if k.origins.Check(r) == nil {
		return nil
	}
	return apperror.New(apperror.KindForbidden, "csrf",
		"a page of another origin made this call; behind a proxy that changes the Host, set server.publicUrl to where "+
			"browsers find this server")
}

// CSRFToken derives a token from a session. It does not reveal the session's token, so
// that a page may hold it.
func CSRFToken(session string) string {
	mac := hmac.New(sha256.New, []byte(session))
	_, _ = mac.Write([]byte(csrfLabel))
	return hex.EncodeToString(mac.Sum(nil))
}
