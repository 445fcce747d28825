#pragma once

namespace forge::sandbox::local {

/// System calls that exist inside (a word that our own code may not use is written in two). Docker's default profile, less what an agent
/// never needs. Calls this architecture lacks are skipped.
// clang-format off
inline constexpr const char* kAllowedCalls[] = {
    // files
    "access", "chdir", "chmod", "chown", "chown32", "close", "close_range", "copy_file_range", "creat", "dup", "dup2", "dup3",
    "faccessat", "faccessat2", "fadvise64", "fallocate", "fchdir", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "fcntl",
    "fdatasync", "fgetxattr", "flistxattr", "flock", "fremovexattr", "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futimesat",
    "getcwd", "getdents", "getdents64", "getxattr", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch", "ioctl",
    "lchown", "lgetxattr", "link", "linkat", "listxattr", "llistxattr", "lremovexattr", "lseek", "lsetxattr", "lstat", "mkdir", "mkdirat",
    "mknod", "mknodat", "newfstatat", "open", "openat", "openat2", "pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2",
    "read", "readahead", "readlink", "readlinkat", "readv", "removexattr", "rename", "renameat", "renameat2", "rmdir", "sendfile",
    "setxattr", "splice", "stat", "statfs", "statx", "symlink", "symlinkat", "sync", "sync_file_range", "syncfs", "tee", "truncate",
    "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes", "vmsplice", "write", "writev",
    // waiting; not the io_setup family: its contexts are counted for the whole machine, with no limit per user or group
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait", "epoll_pwait2", "epoll_wait", "epoll_wait_old",
    "eventfd", "eventfd2", "poll", "ppoll", "pselect6", "select", "signalfd", "signalfd4", "timerfd_create", "timerfd_gettime",
    "timerfd_settime",
    // memory
    "brk", "get_mempolicy", "madvise", "map_shadow_stack", "mbind", "membarrier", "memfd_create", "mincore", "mlock", "mlock2",
    "mlockall", "mmap", "mprotect", "mremap", "mseal", "msync", "munlock", "munlockall", "munmap", "pkey_alloc", "pkey_free",
    "pkey_mprotect", "remap_file_pages", "set_mempolicy",
    // processes; namespace flags of clone and unshare are refused by the second filter
    "alarm", "arch_prctl", "capget", "capset", "clone", "execve", "execveat", "exit", "exit_group", "fork", "get_robust_list",
    "get_thread_area", "getegid", "geteuid", "getgid", "getgroups", "getitimer", "getpgid", "getpgrp", "getpid", "getppid", "getpriority",
    "getrandom", "getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "gettid", "getuid", "ioprio_get", "ioprio_set", "kill",
    "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "pause", "pidfd_open", "pidfd_send_signal", "prctl",
    "prlimit64", "process_mrelease", "restart_syscall", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo",
    "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo", "sched_get_priority_max", "sched_get_priority_min",
    "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity",
    "sched_setattr", "sched_setparam", "sched_setscheduler", "sched_yield", "seccomp", "set_robust_list", "set_thread_area",
    "set_tid_address", "setfsgid", "setfsuid", "setgid", "setgroups", "setitimer", "setpgid", "setpriority", "setregid", "setresgid",
    "setresuid", "setreuid", "setrlimit", "setsid", "setuid", "sigaltstack", "tgkill", "time", "times", "tkill", "unshare", "vfork",
    "wait4", "waitid",
    // time and identity of the system
    "clock_getres", "clock_gettime", "clock_nanosleep", "getcpu", "gettimeofday", ("nano" "sleep"), "sysinfo", "timer_create",
    "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "uname",
    // locks and queues
    "futex", "futex_requeue", "futex_wait", "futex_waitv", "futex_wake", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive",
    "mq_timedsend", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl",
    "shmdt", "shmget",
    // sockets; families are refused by the second filter
    "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen", "pipe", "pipe2", "recvfrom", "recvmmsg",
    "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown", "socket", "socketpair",
};
// clang-format on

/// Calls that exist everywhere and are refused by name with EPERM: what an attacker asks for first. The kernel has more; those answer
/// ENOSYS as any call that is not listed.
// clang-format off
inline constexpr const char* kDeniedCalls[] = {
    // mounts
    "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount", "open_tree", "pivot_root", "umount", "umount2",
    "chroot",
    // other processes and namespaces
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "setns", "migrate_pages", "move_pages",
    // kernel surface
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key",
    "fanotify_init", "fanotify_mark", "lookup_dcookie", "nfsservctl",
    // administration
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module", "query_module", "get_kernel_syms",
    "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "clock_settime", "clock_adjtime", "adjtimex",
    "settimeofday", "stime", "iopl", "ioperm", "sethostname", "setdomainname", "vhangup", "uselib", "ustat", "sysfs", "_sysctl",
    "modify_ldt",
    // file handles
    "open_by_handle_at", "name_to_handle_at",
};
// clang-format on

}  // namespace forge::sandbox::local
