package programs

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	// redrawEvery is how often the line of a terminal is drawn again.
	redrawEvery = time.Second
	// repeatEvery is how often a log that is not a terminal gets a line.
	repeatEvery = 20 * time.Second
	// lineWidth bounds the line that is drawn again and again, so that it does not wrap.
	lineWidth = 110
)

// Progress tells a waiting person what is being done and for how long. On a terminal the present activity is one line
// that is drawn again; elsewhere it is a line now and then. It is safe for concurrent use.
type Progress struct {
	out      io.Writer
	terminal bool
	started  time.Time

	mu       sync.Mutex
	activity string
	drawn    bool
	last     time.Time
}

// NewProgress reports to out, which may be a terminal.
func NewProgress(out io.Writer) *Progress {
	file, isFile := out.(*os.File)
	return &Progress{out: out, terminal: isFile && term.IsTerminal(int(file.Fd())), started: time.Now()}
}

// Step writes a line that stays.
func (p *Progress) Step(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.out, "[%4ds] %s\n", p.seconds(), fmt.Sprintf(format, args...))
}

// Running sets the present activity.
func (p *Progress) Running(activity string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.activity = activity
	p.draw()
}

// keepAlive shows the present activity, with the time passing, until the returned function is called.
func (p *Progress) keepAlive() (stop func()) {
	done := make(chan struct{})
	var finished sync.WaitGroup
	finished.Go(func() {
		ticker := time.NewTicker(redrawEvery)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				p.mu.Lock()
				p.draw()
				p.mu.Unlock()
			}
		}
	})
	return func() {
		close(done)
		finished.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.activity = ""
		p.clear()
	}
}

// draw shows the activity if it is time for it.
func (p *Progress) draw() {
	pause := repeatEvery
	if p.terminal {
		pause = redrawEvery / 4
	}
	if p.activity == "" || time.Since(p.last) < pause {
		return
	}
	p.last = time.Now()
	if !p.terminal {
		fmt.Fprintf(p.out, "[%4ds] %s\n", p.seconds(), p.activity)
		return
	}
	line := fmt.Sprintf("[%4ds] %s", p.seconds(), p.activity)
	if len(line) > lineWidth {
		line = line[:lineWidth]
	}
	fmt.Fprintf(p.out, "\r\033[K%s", line)
	p.drawn = true
}

// clear removes the drawn line.
func (p *Progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\033[K")
		p.drawn = false
	}
}

func (p *Progress) seconds() int {
	return int(time.Since(p.started).Seconds())
}
