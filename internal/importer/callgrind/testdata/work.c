#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static inline int twice(int x){ int s=0; for(int i=0;i<x%7;i++) s+=i; return 2*x+s; }
int fib(int n){ return n<2?n:fib(n-1)+fib(n-2); }
int even(int n); int odd(int n){ return n==0?0:even(n-1); } int even(int n){ return n==0?1:odd(n-1); }
int leaf(int n){ int s=0; for(int i=0;i<n;i++) s+=twice(i); return s; }
int left(int n){ return leaf(3*n); }
int right(int n){ return leaf(n)+leaf(n); }
int by_value(const void*a,const void*b){ return *(const int*)a-*(const int*)b; }
int main(void){
  int v[200]; for(int i=0;i<200;i++) v[i]=(i*7919)%1009;
  qsort(v,200,sizeof v[0],by_value);
  printf("%d %d %d %d\n",fib(9),even(11),left(50)+right(40),v[3]);
  return 0;
}
