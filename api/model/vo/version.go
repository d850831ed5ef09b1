package vo

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// JobVersion is the definition of a job under one of its versions.
type JobVersion struct {
	Version    int  `json:"version"`
	CreateTime Time `json:"createTime" format:"date-time"`
	// Definition is what PUT takes.
	Definition Job `json:"definition"`
	// Changes holds [before, after] by field against the version before it;
	// null for the oldest of the page.
	Changes map[string][2]any `json:"changes" extensions:"x-nullable"`
}

// FromVersion makes the view of a version.
func FromVersion(j *entity.Job) JobVersion {
	return JobVersion{Version: j.Version, CreateTime: Time(j.UpdateTime), Definition: FromJob(j)}
}

// Node is one process of the platform.
type Node struct {
	ID            string            `json:"id"`
	IP            string            `json:"ip"`
	Port          int               `json:"port"`
	Status        entity.NodeStatus `json:"status"`
	Epoch         int64             `json:"epoch"`
	Roles         []string          `json:"roles"`
	Labels        map[string]string `json:"labels"`
	Slots         int               `json:"slots"`
	Running       int               `json:"running"`
	Version       string            `json:"version"`
	LastHeartbeat Time              `json:"lastHeartbeat" format:"date-time"`
}

// FromNode makes the view of a node.
func FromNode(n entity.Node) Node {
	return Node{
		ID: n.ID, IP: n.IP, Port: n.Port, Status: n.Status, Epoch: n.Epoch, Roles: whole(n.Roles), Labels: labels(n.Labels),
		Slots: n.Slots, Running: n.Running, Version: n.Version, LastHeartbeat: Time(n.LastHeartbeat),
	}
}
