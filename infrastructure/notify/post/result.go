package post

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// Sent is the result of a message that was taken.
func Sent() alert.SendResult { return alert.SendResult{Result: alert.ResultSent} }

// Refused is the result of a message that the receiver never takes.
func Refused(mask channelconfig.Mask, code, text string) alert.SendResult {
	return alert.SendResult{Result: alert.ResultRefused, Code: code, Text: clean(mask, text)}
}

// Failed is the result of a message that may be taken later; after is 0 where nobody says when.
func Failed(mask channelconfig.Mask, code, text string, after time.Duration) alert.SendResult {
	return alert.SendResult{Result: alert.ResultFailed, Code: code, Text: clean(mask, text), RetryAfter: after}
}

// Refused is Refused with the mask of the channel that was answered.
func (a Answer) Refused(code, text string) alert.SendResult { return Refused(a.mask, code, text) }

// Failed is Failed with the mask of the channel that was answered.
func (a Answer) Failed(code, text string, after time.Duration) alert.SendResult {
	return Failed(a.mask, code, text, after)
}

// ByCode judges answers with errcode and errmsg, as DingTalk and WeCom give them. Refusal judges a number that is
// not 0, with the code and the text of a result.
func ByCode(service string, refusal func(a Answer, number int64, code, text string) alert.SendResult) func(
	a Answer,
) alert.SendResult {
	return func(a Answer) alert.SendResult {
		byStatus := a.Result()
		if byStatus.Result != alert.ResultSent {
			return byStatus
		}
		var answer struct {
			Code    *int64 `json:"errcode"`
			Message string `json:"errmsg"`
		}
		switch {
		case !a.Read(&answer) || answer.Code == nil:
			return a.Foreign(byStatus, service, "the address")
		case *answer.Code == 0:
			return Sent()
		}
		number := *answer.Code
		return refusal(a, number, fmt.Sprintf("errcode_%d", number), a.Describe(number, answer.Message))
	}
}

func clean(mask channelconfig.Mask, text string) string {
	return markup.Cut(markup.Line(mask.Text(text)), alert.MaxResultText, markup.Bytes)
}

// Trouble judges an error of a connection to a host.
func Trouble(mask channelconfig.Mask, host string, err error) alert.SendResult {
	var (
		refusal     *outbound.Refusal
		unknown     *net.DNSError
		certificate *tls.CertificateVerificationError
		network     net.Error
	)
	switch {
	case errors.As(err, &refusal):
		return Refused(mask, "not_allowed", refusal.Error())
	case errors.As(err, &unknown):
		return Failed(mask, "dns", "the name "+host+" cannot be resolved", 0)
	case errors.As(err, &certificate):
		return Failed(mask, "certificate", "the certificate of "+host+" is not valid: "+certificate.Err.Error(), 0)
	case errors.As(err, &network) && network.Timeout():
		return Failed(mask, "timeout", host+" did not answer in time", 0)
	default:
		return Failed(mask, "network", "the connection to "+host+" failed: "+err.Error(), 0)
	}
}

// Result judges the status of an answer alone. 4xx is never taken, but for 408, 425 and 429.
func (a Answer) Result() alert.SendResult {
	code := fmt.Sprintf("http_%d", a.Status)
	text := fmt.Sprintf("status %d %s", a.Status, http.StatusText(a.Status))
	switch {
	case a.Status >= 200 && a.Status < 300:
		return Sent()
	case a.Status >= 300 && a.Status < 400:
		return Refused(a.mask, code, text+": redirects are not followed; enter the address to which it leads")
	case a.Status == http.StatusRequestTimeout, a.Status == http.StatusTooEarly, a.Status == http.StatusTooManyRequests:
		return Failed(a.mask, code, a.with(text), a.RetryAfter)
	case a.Status >= 400 && a.Status < 500:
		return Refused(a.mask, code, a.with(text))
	default:
		return Failed(a.mask, code, a.with(text), a.RetryAfter)
	}
}

// with adds the beginning of the answer, which often says what is wrong.
func (a Answer) with(text string) string {
	const most = 200
	if body := strings.TrimSpace(markup.Line(a.mask.Text(string(a.Body)))); body != "" {
		return text + ": " + markup.Cut(body, most, markup.Bytes)
	}
	return text
}

// Foreign is the result of an answer that is not as a service gives them: that of the status, unless it says SENT.
// Check names what may be wrong.
func (a Answer) Foreign(byStatus alert.SendResult, service, check string) alert.SendResult {
	switch {
	case byStatus.Result != alert.ResultSent:
		return byStatus
	case a.TooLong:
		text := fmt.Sprintf("the answer is longer than %d bytes", maxAnswer)
		return a.Failed("answer_too_long", text, a.RetryAfter)
	}
	return a.Failed("answer", "the service did not answer as "+service+" does; check "+check, 0)
}
