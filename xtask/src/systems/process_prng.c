/* bcryptprimitives.dll for Wine: Rust's standard library takes random numbers from `ProcessPrng`, which
   Wine 8 does not have. `SystemFunction036` of advapi32 is the older name of the same service. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) {
  return SystemFunction036(buffer, (ULONG)length);
}
