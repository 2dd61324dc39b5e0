// Handles an event once, and the events of an order in turn and never backwards.

package webhook

import (
	"container/list"
	"errors"
	"sync"
	"time"
)

const mostRemembered = 100_000

// ErrEventInProgress says that the same event is being handled right now, and may yet fail. Answer 503:
// if the handling succeeds, the repeat is recognised then; if not, the repeat is the one that counts.
var ErrEventInProgress = errors.New("the same event is being handled right now")

// Store decides which events are handled. Memory keeps its knowledge in this process; where several
// processes receive, or one restarts, write one over your database: a table with a unique event id,
// written in the transaction that has the event's effect.
type Store interface {
	// Handle calls handle unless the event was handled before or is outdated, and reports whether it
	// was called. An event whose handling fails was not handled, so its repeat is let through.
	Handle(event Event, handle func() error) (bool, error)
}

// Memory remembers the events that were handled, and how new the last one of each order was, in this
// process. The zero value is ready for use and remembers the last 100,000 of both.
type Memory struct {
	Most int // how many are remembered

	mutex   sync.Mutex
	events  recent[struct{}]
	orders  recent[time.Time]
	running map[string]bool
	turns   map[string]*turn
}

// turn lets the events of one order be handled one after the other.
type turn struct {
	mutex sync.Mutex
	users int
}

// Handle implements Store.
func (m *Memory) Handle(event Event, handle func() error) (bool, error) {
	isFirst, err := m.begin(event.ID)
	if err != nil || !isFirst {
		return false, err
	}
	isDone := false
	// A handler that panics has not handled the event either.
	defer func() { m.end(event.ID, isDone) }()

	order := event.Data.Order
	leave := m.enter(order.ID)
	defer leave()
	if event.IsStale(m.held(order.ID)) {
		isDone = true
		return false, nil
	}
	if err := handle(); err != nil {
		return false, err
	}
	m.hold(order.ID, order.UpdatedAt)
	isDone = true
	return true, nil
}

func (m *Memory) begin(id string) (bool, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.running[id] {
		return false, ErrEventInProgress
	}
	if _, wasHandled := m.events.get(id); wasHandled {
		return false, nil
	}
	if m.running == nil {
		m.running = map[string]bool{}
	}
	m.running[id] = true
	return true, nil
}

func (m *Memory) end(id string, isDone bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.running, id)
	if isDone {
		m.events.put(id, struct{}{}, m.most())
	}
}

// enter waits for the order's turn; the function that it returns ends it.
func (m *Memory) enter(order string) func() {
	m.mutex.Lock()
	if m.turns == nil {
		m.turns = map[string]*turn{}
	}
	t := m.turns[order]
	if t == nil {
		t = &turn{}
		m.turns[order] = t
	}
	t.users++
	m.mutex.Unlock()
	t.mutex.Lock()
	return func() {
		t.mutex.Unlock()
		m.mutex.Lock()
		defer m.mutex.Unlock()
		if t.users--; t.users == 0 {
			delete(m.turns, order)
		}
	}
}

func (m *Memory) held(order string) time.Time {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	moment, _ := m.orders.get(order)
	return moment
}

func (m *Memory) hold(order string, moment time.Time) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.orders.put(order, moment, m.most())
}

func (m *Memory) most() int {
	if m.Most > 0 {
		return m.Most
	}
	return mostRemembered
}

// recent is a map that forgets what was written longest ago.
type recent[Value any] struct {
	entries map[string]*list.Element
	order   list.List
}

type recentEntry[Value any] struct {
	key   string
	value Value
}

func (r *recent[Value]) get(key string) (Value, bool) {
	if element, ok := r.entries[key]; ok {
		return element.Value.(recentEntry[Value]).value, true
	}
	var none Value
	return none, false
}

func (r *recent[Value]) put(key string, value Value, most int) {
	if r.entries == nil {
		r.entries = map[string]*list.Element{}
	}
	if element, ok := r.entries[key]; ok {
		r.order.Remove(element)
	}
	r.entries[key] = r.order.PushBack(recentEntry[Value]{key, value})
	for r.order.Len() > most {
		oldest := r.order.Remove(r.order.Front()).(recentEntry[Value])
		delete(r.entries, oldest.key)
	}
}
