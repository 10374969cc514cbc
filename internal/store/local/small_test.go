package local
import ("testing";"github.com/parallax-hpc/parallax/internal/trace";"time")
func TestSmallTime(t *testing.T){
 t0:=time.Now()
 for range 10 { p:=build(t, Options{}, func(w trace.Writer){ id:=w.Location(trace.Location{Parent:trace.NoLocation,Name:"a",Rank:-1}); s:=w.Stream(id,trace.StreamOptions{}); r:=w.Region(trace.Region{Name:"f"}); s.Enter(1,r); s.Leave(2,r); s.Close()})
  r,_:=Open(p,nil); r.Close() }
 t.Log(time.Since(t0)/10)
}
