#include <stdio.h>
volatile double sink;
int fib(int n){ return n<2?n:fib(n-1)+fib(n-2); }
int even(int n); int odd(int n){ sink+=n; return n==0?0:even(n-1); } int even(int n){ sink-=n; return n==0?1:odd(n-1); }
void leaf(long n){ for(long i=0;i<n;i++) sink+=i*0.5; }
void left(void){ leaf(30000000); }
void right(void){ leaf(10000000); leaf(10000000); }
int main(void){ left(); right(); printf("%d %d\n",fib(30),even(9001)); return 0; }
