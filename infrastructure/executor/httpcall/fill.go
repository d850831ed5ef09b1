package httpcall

import (
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// Fill returns job data with the values of a run in their places, for a worker that makes the call as it stands. Each
// value has the escapes of its place. The worker's own guard decides which addresses it may call.
func Fill(data string, run *placeholder.Values) (string, []apperror.Field) {
	r := jobdata.Read(data, run)
	d := read(r)
	d.check(r)
	if faults := r.End(); len(faults) > 0 {
		return "", faults
	}
	filled, err := jobdata.Fill(data, map[string]any{
		"url": d.url, "headers": d.headers, "body": d.body, "expectedBody": d.expectedBody,
		"clientCertificate": d.certificate, "clientKey": d.key, "certificateAuthority": d.authority,
	})
	if err != nil {
		return "", jobdata.Unfilled(err)
	}
	return filled, nil
}
