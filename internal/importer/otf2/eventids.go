package otf2

// Ids of event records.
const (
	evBufferFlush = 10 + iota
	evMeasurementOnOff
	evEnter
	evLeave
	evMpiSend
	evMpiIsend
	evMpiIsendComplete
	evMpiIrecvRequest
	evMpiRecv
	evMpiIrecv
	evMpiRequestTest
	evMpiRequestCancelled
	evMpiCollectiveBegin
	evMpiCollectiveEnd
	evOmpFork
	evOmpJoin
	evOmpAcquireLock
	evOmpReleaseLock
	evOmpTaskCreate
	evOmpTaskSwitch
	evOmpTaskComplete
	evMetric
	evParameterString
	evParameterInt
	evParameterUnsignedInt
	evRmaWinCreate
	evRmaWinDestroy
	evRmaCollectiveBegin
	evRmaCollectiveEnd
	evRmaGroupSync
	evRmaRequestLock
	evRmaAcquireLock
	evRmaTryLock
	evRmaReleaseLock
	evRmaSync
	evRmaWaitChange
	evRmaPut
	evRmaGet
	evRmaAtomic
	evRmaOpCompleteBlocking
	evRmaOpCompleteNonBlocking
	evRmaOpTest
	evRmaOpCompleteRemote
	evThreadFork
	evThreadJoin
	evThreadTeamBegin
	evThreadTeamEnd
	evThreadAcquireLock
	evThreadReleaseLock
	evThreadTaskCreate
	evThreadTaskSwitch
	evThreadTaskComplete
	evThreadCreate
	evThreadBegin
	evThreadWait
	evThreadEnd
	evCallingContextEnter
	evCallingContextLeave
	evCallingContextSample
	evIoCreateHandle
	evIoDestroyHandle
	evIoDuplicateHandle
	evIoSeek
	evIoChangeStatusFlags
	evIoDeleteFile
	evIoOperationBegin
	evIoOperationTest
	evIoOperationIssued
	evIoOperationComplete
	evIoOperationCancelled
	evIoAcquireLock
	evIoReleaseLock
	evIoTryLock
	evProgramBegin
	evProgramEnd
	evNonBlockingCollectiveRequest
	evNonBlockingCollectiveComplete
	evCommCreate
	evCommDestroy
	eventIDs // one past the last that is known
)

// eventNames are the names that the library's documentation uses.
var eventNames = [eventIDs]string{
	evBufferFlush: "BufferFlush", evMeasurementOnOff: "MeasurementOnOff", evEnter: "Enter", evLeave: "Leave",
	evMpiSend: "MpiSend", evMpiIsend: "MpiIsend", evMpiIsendComplete: "MpiIsendComplete",
	evMpiIrecvRequest: "MpiIrecvRequest",
	evMpiRecv:         "MpiRecv", evMpiIrecv: "MpiIrecv", evMpiRequestTest: "MpiRequestTest",
	evMpiRequestCancelled: "MpiRequestCancelled",
	evMpiCollectiveBegin:  "MpiCollectiveBegin", evMpiCollectiveEnd: "MpiCollectiveEnd",
	evOmpFork: "OmpFork", evOmpJoin: "OmpJoin", evOmpAcquireLock: "OmpAcquireLock", evOmpReleaseLock: "OmpReleaseLock",
	evOmpTaskCreate: "OmpTaskCreate", evOmpTaskSwitch: "OmpTaskSwitch", evOmpTaskComplete: "OmpTaskComplete",
	evMetric: "Metric", evParameterString: "ParameterString", evParameterInt: "ParameterInt",
	evParameterUnsignedInt: "ParameterUnsignedInt",
	evRmaWinCreate:         "RmaWinCreate", evRmaWinDestroy: "RmaWinDestroy",
	evRmaCollectiveBegin: "RmaCollectiveBegin", evRmaCollectiveEnd: "RmaCollectiveEnd", evRmaGroupSync: "RmaGroupSync",
	evRmaRequestLock: "RmaRequestLock", evRmaAcquireLock: "RmaAcquireLock", evRmaTryLock: "RmaTryLock",
	evRmaReleaseLock: "RmaReleaseLock",
	evRmaSync:        "RmaSync", evRmaWaitChange: "RmaWaitChange", evRmaPut: "RmaPut", evRmaGet: "RmaGet",
	evRmaAtomic:             "RmaAtomic",
	evRmaOpCompleteBlocking: "RmaOpCompleteBlocking", evRmaOpCompleteNonBlocking: "RmaOpCompleteNonBlocking",
	evRmaOpTest: "RmaOpTest", evRmaOpCompleteRemote: "RmaOpCompleteRemote",
	evThreadFork: "ThreadFork", evThreadJoin: "ThreadJoin", evThreadTeamBegin: "ThreadTeamBegin",
	evThreadTeamEnd:     "ThreadTeamEnd",
	evThreadAcquireLock: "ThreadAcquireLock", evThreadReleaseLock: "ThreadReleaseLock",
	evThreadTaskCreate: "ThreadTaskCreate", evThreadTaskSwitch: "ThreadTaskSwitch",
	evThreadTaskComplete: "ThreadTaskComplete",
	evThreadCreate:       "ThreadCreate", evThreadBegin: "ThreadBegin", evThreadWait: "ThreadWait",
	evThreadEnd:           "ThreadEnd",
	evCallingContextEnter: "CallingContextEnter", evCallingContextLeave: "CallingContextLeave",
	evCallingContextSample: "CallingContextSample",
	evIoCreateHandle:       "IoCreateHandle", evIoDestroyHandle: "IoDestroyHandle",
	evIoDuplicateHandle:   "IoDuplicateHandle",
	evIoSeek:              "IoSeek",
	evIoChangeStatusFlags: "IoChangeStatusFlags", evIoDeleteFile: "IoDeleteFile",
	evIoOperationBegin: "IoOperationBegin", evIoOperationTest: "IoOperationTest",
	evIoOperationIssued:   "IoOperationIssued",
	evIoOperationComplete: "IoOperationComplete", evIoOperationCancelled: "IoOperationCancelled",
	evIoAcquireLock: "IoAcquireLock", evIoReleaseLock: "IoReleaseLock", evIoTryLock: "IoTryLock",
	evProgramBegin: "ProgramBegin", evProgramEnd: "ProgramEnd",
	evNonBlockingCollectiveRequest:  "NonBlockingCollectiveRequest",
	evNonBlockingCollectiveComplete: "NonBlockingCollectiveComplete",
	evCommCreate:                    "CommCreate", evCommDestroy: "CommDestroy",
}

// single are the records that have one integer and no length: the oldest ones.
var single = [256]bool{
	evEnter: true, evLeave: true, evMpiIsendComplete: true, evMpiIrecvRequest: true, evMpiRequestTest: true,
	evMpiRequestCancelled: true, evOmpFork: true, evOmpTaskCreate: true, evOmpTaskSwitch: true, evOmpTaskComplete: true,
}
