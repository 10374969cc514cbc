package disk

import (
	"context"
	"testing"
)

// Requests wait a moment for others, so one may begin when those who want it are gone.
func TestARequestThatBeginsAfterAllWhoAskWereCancelledEndsAtOnce(t *testing.T) {
	f := &Fetcher{}
	ctx, cancel := context.WithCancel(context.Background())
	end := f.While(ctx)
	before := f.asking.context()
	cancel()
	<-before.Done()
	if f.asking.context().Err() == nil {
		t.Error("nobody can end a request that begins now")
	}
	other := f.While(context.Background())
	if f.asking.context().Err() != nil {
		t.Error("another query is under way, but its requests end")
	}
	other()
	end()
	if f.asking.context().Err() != nil {
		t.Error("requests end though nobody was cancelled")
	}
}
