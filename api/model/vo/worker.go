package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Worker is a program of users that runs jobs.
type Worker struct {
	ID string `json:"id"`
	// Group is its worker group, Instance its own name.
	Group    string `json:"group"`
	Instance string `json:"instance"`
	// JobGroups are the groups whose jobs it may run, as its worker group says.
	JobGroups []string            `json:"jobGroups"`
	Status    entityworker.Status `json:"status" enums:"UP,DRAINING,DOWN"`
	// Suspect: it has not called for over two beats.
	Suspect bool `json:"suspect"`
	// Epoch counts its lives.
	Epoch int64 `json:"epoch"`
	// Slots are for runs that are no commands, CommandSlots for commands; Running and CommandsRunning are how many it had
	// at its latest beat.
	Slots           int               `json:"slots"`
	Running         int               `json:"running"`
	CommandSlots    int               `json:"commandSlots"`
	CommandsRunning int               `json:"commandsRunning"`
	Weight          int               `json:"weight"`
	Labels          map[string]string `json:"labels"`
	// Handlers are their names, sorted.
	Handlers []string `json:"handlers"`
	// SDK, Runtime, Version, Host and PID are what it says of itself.
	SDK     string `json:"sdk"`
	Runtime string `json:"runtime"`
	Version string `json:"version"`
	Host    string `json:"host"`
	PID     int64  `json:"pid"`
	// Gateway is the node that stored its latest beat.
	Gateway string `json:"gateway"`
	// LeaseUntil is when it is taken for gone, unless it calls before.
	LastBeat   Time `json:"lastBeat" format:"date-time"`
	LeaseUntil Time `json:"leaseUntil" format:"date-time"`
	// BeginTime is of this life, CreateTime of the first one.
	BeginTime  Time `json:"beginTime" format:"date-time"`
	CreateTime Time `json:"createTime" format:"date-time"`
}

// FromWorker makes the view of a worker; sees says which job groups the caller may know of.
func FromWorker(w worker.Worker, sees func(group string) bool) Worker {
	groups := []string{}
	for _, group := range w.JobGroups {
		if sees(group) {
			groups = append(groups, group)
		}
	}
	return Worker{
		ID: w.ID, Group: w.Group, Instance: w.Instance, JobGroups: groups, Status: w.Status, Suspect: w.Suspect,
		Epoch: w.Epoch, Slots: w.Slots[entity.SlotGeneral], Running: w.Running[entity.SlotGeneral],
		CommandSlots: w.Slots[entity.SlotCommand], CommandsRunning: w.Running[entity.SlotCommand], Weight: w.Weight,
		Labels: labels(w.Labels), Handlers: whole(w.Handlers), SDK: w.SDK, Runtime: w.Runtime, Version: w.Version,
		Host: w.Host, PID: w.PID, Gateway: w.Gateway, LastBeat: Time(w.LastBeat), LeaseUntil: Time(w.LeaseUntil()),
		BeginTime: Time(w.BeginTime), CreateTime: Time(w.CreateTime),
	}
}

// WorkerGroup is a group of workers.
type WorkerGroup struct {
	Name string `json:"name"`
	// JobGroups are the groups whose jobs may name it.
	JobGroups []string `json:"jobGroups"`
	// Secrets lets its workers get secrets, Commands lets them run commands.
	Secrets  bool `json:"secrets"`
	Commands bool `json:"commands"`
	// Declare lets its workers create jobs for their own handlers.
	Declare bool `json:"declare"`
	// MaxWorkers is how many workers it has at most that are not down.
	MaxWorkers int `json:"maxWorkers"`
	// Workers are how many it has by now.
	Workers    WorkerCount `json:"workers"`
	Version    int         `json:"version"`
	CreateTime Time        `json:"createTime" format:"date-time"`
	UpdateTime Time        `json:"updateTime" format:"date-time"`
}

// WorkerCount is how many workers are in each state.
type WorkerCount struct {
	Up       int `json:"up"`
	Draining int `json:"draining"`
	Down     int `json:"down"`
}

// FromWorkerCount makes the view of a count.
func FromWorkerCount(c repository.WorkerCount) WorkerCount {
	return WorkerCount{c.Up, c.Draining, c.Down}
}

// FromWorkerGroup makes the view of a worker group.
func FromWorkerGroup(g worker.Group) WorkerGroup {
	return WorkerGroup{
		Name: g.Name, JobGroups: whole(g.JobGroups), Secrets: g.Secrets, Commands: g.Commands, Declare: g.Declare,
		MaxWorkers: g.MaxWorkers, Workers: FromWorkerCount(g.Workers), Version: g.Version, CreateTime: Time(g.CreateTime),
		UpdateTime: Time(g.UpdateTime),
	}
}

// WorkerToken is a token of a worker group.
type WorkerToken struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	Name  string `json:"name"`
	// Token is shown this once, when it is made.
	Token string `json:"token,omitempty"`
	// CreatedBy is the user who made it.
	CreatedBy string `json:"createdBy"`
	ExpiresAt Time   `json:"expiresAt" format:"date-time"`
	// LastUsedAt is exact to a minute; null where it was never used.
	LastUsedAt Time `json:"lastUsedAt" format:"date-time" extensions:"x-nullable"`
	CreateTime Time `json:"createTime" format:"date-time"`
}

// FromWorkerToken makes the view of a token; secret is the token itself when it is made.
func FromWorkerToken(t entityworker.Token, secret string) WorkerToken {
	return WorkerToken{
		ID: t.ID, Group: t.Group, Name: t.Name, Token: secret, CreatedBy: t.CreatedBy, ExpiresAt: Time(t.ExpiresAt),
		LastUsedAt: Time(t.LastUsedAt), CreateTime: Time(t.CreateTime),
	}
}
