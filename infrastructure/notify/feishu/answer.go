package feishu

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// blockedFor is how long Feishu counts the messages of a robot.
	blockedFor = time.Minute
	// maxReset bounds what Feishu may ask for.
	maxReset = time.Hour
)

// resultOf reads the code before the status: Feishu says "too many" with 200, 400 and 429.
func resultOf(a post.Answer) alert.SendResult {
	var answer struct {
		Code *int64 `json:"code"`
		// Status is what older robots answer in place of a code.
		Status  *int64 `json:"StatusCode"`
		Message string `json:"msg"`
	}
	read := a.Read(&answer)
	if answer.Code == nil {
		answer.Code = answer.Status
	}
	byStatus := a.Result()
	switch {
	case !read || answer.Code == nil:
		return a.Foreign(byStatus, "Feishu", "the address")
	case *answer.Code == 0:
		return byStatus
	}
	code, text := fmt.Sprintf("errcode_%d", *answer.Code), a.Describe(*answer.Code, answer.Message)
	switch *answer.Code {
	case 99991400, 11232, 11233: // too many messages
		return a.Failed(code, text, wait(a))
	case 9499: // a bad request, or too many messages
		if strings.Contains(strings.ToLower(answer.Message), "frequency limit") {
			return a.Failed(code, text, wait(a))
		}
		return a.Refused(code, text)
	case 19001, 19002, 19007, // the robot does not exist, or is off
		19021, 19022, 19024, // signature, address or words do not match
		11246, 200621: // the card cannot be read
		return a.Refused(code, text)
	}
	if byStatus.Result == alert.ResultRefused {
		return a.Refused(code, text)
	}
	return a.Failed(code, text, a.RetryAfter)
}

// wait is how long Feishu asks not to be called.
func wait(a post.Answer) time.Duration {
	if seconds, err := strconv.ParseUint(a.Header.Get("X-Ogw-Ratelimit-Reset"), 10, 31); err == nil && seconds > 0 {
		return min(time.Duration(seconds)*time.Second, maxReset)
	}
	return max(a.RetryAfter, blockedFor)
}
